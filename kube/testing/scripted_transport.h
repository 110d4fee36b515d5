// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_TESTING_SCRIPTED_TRANSPORT_H_
#define RECLAIM_KUBE_TESTING_SCRIPTED_TRANSPORT_H_

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kube/json.h"
#include "kube/transport.h"

namespace reclaim::kube::testing {

// A transport without a network: answers come from a list, requests are kept. One thread only.
class ScriptedTransport : public Transport {
 public:
  void Answer(int status, const std::string& body,
              std::multimap<std::string, std::string> headers = {}) {
    answers_.push_back(HttpResponse{status, std::move(headers), body});
  }
  void Answer(const Json& body) { Answer(200, DumpJson(body)); }
  void Fail(absl::Status status) { answers_.push_back(std::move(status)); }

  absl::StatusOr<HttpResponse> Request(const HttpRequest& request) override {
    requests.push_back(request);
    if (answers_.empty()) return absl::InternalError("the script has no answer left");
    absl::StatusOr<HttpResponse> answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }

  // A 200 gives its body as one piece of data.
  absl::StatusOr<HttpResponse> Stream(const HttpRequest& request,
                                      const StreamOptions& options) override {
    absl::StatusOr<HttpResponse> answer = Request(request);
    if (!answer.ok() || answer->status != 200) return answer;
    options.on_open();
    absl::Status status = options.on_data(std::exchange(answer->body, ""));
    if (!status.ok()) return status;
    return answer;
  }

  void Shutdown() override { shut_down = true; }

  size_t answers_left() const { return answers_.size(); }

  std::vector<HttpRequest> requests;
  bool shut_down = false;

 private:
  std::deque<absl::StatusOr<HttpResponse>> answers_;
};

}  // namespace reclaim::kube::testing

#endif  // RECLAIM_KUBE_TESTING_SCRIPTED_TRANSPORT_H_
