// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/request_metrics.h"

#include "operator/metrics/families.h"
#include "operator/metrics/metric_rows.h"

namespace reclaim::op {

void RequestMetrics::OnRequest(absl::string_view method, absl::string_view code) {
  CounterOf(registry_, rows::kRestRequests, {code, method, host_}).Increment();
}

}  // namespace reclaim::op
