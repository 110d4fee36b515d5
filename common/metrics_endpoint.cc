// SPDX-License-Identifier: Apache-2.0
#include "common/metrics_endpoint.h"

#include <exception>
#include <iterator>
#include <sstream>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/log.h"
#include "common/metric_table.h"
#include "prometheus/text_serializer.h"

namespace reclaim {
namespace {

const MetricRow& SourceErrors() {
  static const auto& row = *new MetricRow{
      .name = "reclaim_metrics_source_errors_total",
      .type = prometheus::MetricType::Counter,
      .help = "Times that a part of this program failed to give its metrics to a scrape.",
  };
  return row;
}

// One scrape at a time: a second scraper waits rather than doubling the work.
class Scraper {
 public:
  explicit Scraper(std::vector<const prometheus::Collectable*> sources)
      : sources_(std::move(sources)) {}

  std::string Scrape() {
    absl::MutexLock lock(&mutex_);
    std::vector<prometheus::MetricFamily> families;
    for (const prometheus::Collectable* source : sources_) {
      try {
        std::vector<prometheus::MetricFamily> collected = source->Collect();
        std::move(collected.begin(), collected.end(), std::back_inserter(families));
      } catch (const std::exception& e) {
        ++errors_;
        LogError("metrics source failed", {{"error", e.what()}, {"failures", errors_}});
      }
    }
    prometheus::MetricFamily errors = NewFamily(SourceErrors());
    AddSample(SourceErrors(), {}, static_cast<double>(errors_), errors);
    families.push_back(std::move(errors));
    return prometheus::TextSerializer().Serialize(families);
  }

 private:
  const std::vector<const prometheus::Collectable*> sources_;
  absl::Mutex mutex_;
  int64_t errors_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace

absl::Span<const MetricRow> MetricsEndpoint::Table() {
  return absl::MakeConstSpan(&SourceErrors(), 1);
}

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(
    const std::string& address, std::vector<const prometheus::Collectable*> sources) {
  auto scraper = std::make_shared<Scraper>(std::move(sources));
  auto http = HttpEndpoint::Start(
      {.name = "metrics", .address = address},
      {{.path = "/metrics", .handler = [scraper](const HttpRequest&) {
          return HttpResponse{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                              .body = scraper->Scrape()};
        }}});
  if (!http.ok()) return http.status();
  return std::unique_ptr<MetricsEndpoint>(new MetricsEndpoint(*std::move(http)));
}

}  // namespace reclaim
