// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_TESTING_REFLECTOR_FIXTURE_H_
#define RECLAIM_KUBE_TESTING_REFLECTOR_FIXTURE_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "common/testing/eventually.h"
#include "gtest/gtest.h"
#include "kube/reflector.h"
#include "kube/store.h"
#include "kube/testing/fake_api_server.h"

namespace reclaim::kube::testing {

inline Json Object(const std::string& name, int version, const std::string& uid = "") {
  return {{"metadata",
           {{"name", name},
            {"uid", uid.empty() ? "uid-" + name : uid},
            {"resourceVersion", absl::StrCat(version)}}}};
}

inline Json ListOf(int version, const std::vector<Json>& items, const std::string& next = "") {
  return {{"kind", "NodeList"},
          {"metadata", {{"resourceVersion", absl::StrCat(version)}, {"continue", next}}},
          {"items", items}};
}

inline std::string Event(const std::string& type, const Json& object) {
  return DumpJson({{"type", type}, {"object", object}}) + "\n";
}

inline std::string Bookmark(int version) {
  return Event("BOOKMARK", {{"metadata", {{"resourceVersion", absl::StrCat(version)}}}});
}

inline const Json kExpired = {
    {"kind", "Status"}, {"code", 410}, {"reason", "Expired"}, {"message", "too old"}};

// A reflector of nodes against a scripted server: each LIST and each WATCH takes the next step of
// its script; when a script is used up, a watch stays open and silent, and a list is an error.
class ReflectorTest : public ::testing::Test {
 protected:
  using Step = std::function<void(FakeReply& reply)>;

  ReflectorTest() {
    options_.resource = Nodes();
    options_.idle_timeout = absl::Seconds(60);
    options_.backoff = {.initial = absl::Milliseconds(1), .max = absl::Milliseconds(5)};
    store_.AddHandler({
        .added = [this](absl::string_view key,
                        const auto& now) { Log(absl::StrCat("+", key, "@", *now)); },
        .updated = [this](absl::string_view key, const auto&,
                          const auto& now) { Log(absl::StrCat("~", key, "@", *now)); },
        .deleted = [this](
                       absl::string_view key, const auto& last,
                       bool known) { Log(absl::StrCat("-", key, "@", *last, known ? "" : "?")); },
    });
  }

  ~ReflectorTest() override { reflector_.reset(); }

  void OnList(Step step) { lists_.push_back(std::move(step)); }
  void OnList(const Json& list) {
    OnList([list](FakeReply& reply) { reply.RespondJson(list); });
  }
  void OnWatch(Step step) { watches_.push_back(std::move(step)); }
  // A watch that sends `lines` and then stays open.
  void OnWatch(const std::string& lines) {
    OnWatch([lines](FakeReply& reply) {
      reply.BeginStream();
      reply.Chunk(lines);
      reply.HoldOpen();
    });
  }

  void Start() {
    server_ = std::make_unique<FakeApiServer>(
        [this](const FakeRequest& request, FakeReply& reply) { Serve(request, reply); });
    transport_ = NewTransport(server_->Config(), clock_).value();
    client_ = std::make_unique<Client>(*transport_);
    reflector_ = std::make_unique<Reflector>(*client_, options_, store_, clock_);
    reflector_->Start();
  }

  void Serve(const FakeRequest& request, FakeReply& reply) {
    const bool watch = absl::StrContains(request.target, "watch=1");
    Step step;
    {
      absl::MutexLock lock(&mutex_);
      // Only the parameters that the tests talk about.
      std::string query;
      const std::vector<std::string> parts = absl::StrSplit(request.target, absl::ByAnyChar("?&"));
      for (size_t i = 1; i < parts.size(); ++i) {
        if (absl::StartsWith(parts[i], "resourceVersion=") || absl::StartsWith(parts[i], "limit") ||
            absl::StartsWith(parts[i], "continue")) {
          absl::StrAppend(&query, " ", parts[i]);
        }
      }
      asked_.push_back(absl::StrCat(watch ? "WATCH" : "LIST", query));
      std::deque<Step>& script = watch ? watches_ : lists_;
      if (!script.empty()) {
        step = std::move(script.front());
        script.pop_front();
      }
    }
    if (step) return step(reply);
    if (!watch) return reply.Respond(500, "the script of the lists is used up");
    reply.BeginStream();
    reply.HoldOpen();
  }

  void Log(std::string entry) {
    absl::MutexLock lock(&mutex_);
    log_.push_back(std::move(entry));
  }

  std::vector<std::string> log() {
    absl::MutexLock lock(&mutex_);
    return log_;
  }

  std::vector<std::string> asked() {
    absl::MutexLock lock(&mutex_);
    return asked_;
  }

  // Waits until the server was asked `count` times.
  ::testing::AssertionResult WaitForRequests(size_t count) {
    return Eventually(absl::StrCat(count, " requests; last log: ", absl::StrJoin(log(), " ")),
                      [this, count] { return asked().size() >= count; });
  }

  ::testing::AssertionResult WaitForLog(size_t count) {
    return Eventually(absl::StrCat(count, " changes; asked: ", absl::StrJoin(asked(), "; ")),
                      [this, count] { return log().size() >= count; });
  }

  SystemClock clock_;
  ReflectorOptions options_;
  absl::Mutex mutex_;
  std::deque<Step> lists_ ABSL_GUARDED_BY(mutex_);
  std::deque<Step> watches_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> asked_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> log_ ABSL_GUARDED_BY(mutex_);
  // What is stored of an object is its resource version.
  Store<std::string> store_{
      [](const Json& object) -> absl::StatusOr<std::string> { return ResourceVersionOf(object); }};
  std::unique_ptr<FakeApiServer> server_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Reflector> reflector_;
};

}  // namespace reclaim::kube::testing

#endif  // RECLAIM_KUBE_TESTING_REFLECTOR_FIXTURE_H_
