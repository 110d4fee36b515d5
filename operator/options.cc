// SPDX-License-Identifier: Apache-2.0
#include "operator/options.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/process_metrics.h"
#include "operator/metrics/metric_rows.h"

namespace reclaim::op {
namespace {

struct Flag {
  const char* name;
  const char* meaning;
  std::string& value;
};

std::vector<Flag> Flags(Options& options) {
  return {
      {"kubeconfig",
       "file with the API server's address and credentials; default: $KUBECONFIG, "
       "~/.kube/config, or the pod's service account",
       options.kubeconfig},
      {"namespace", "namespace of the operator, its Secret and its ConfigMap",
       options.op.name_space},
      {"service-name", "Service through which agents reach the operator", options.op.service_name},
      {"agent-service-account",
       "NAMESPACE:NAME of the agents' service account; nobody else is served",
       options.op.agent_service_account},
      {"grpc-address", "HOST:PORT of the agents' port (gRPC, TLS)", options.op.grpc_address},
      {"metrics-address", "HOST:PORT of /metrics", options.metrics_address},
      {"health-address", "HOST:PORT of /healthz and /readyz", options.health_address},
      {"tls-dir", "folder in memory for the serving key", options.op.tls_dir},
  };
}

absl::Status Check(const Options& options) {
  const std::vector<std::string> parts = absl::StrSplit(options.op.agent_service_account, ':');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--agent-service-account takes NAMESPACE:NAME, such as "
                     "reclaim-system:reclaim-node-agent; got \"",
                     options.op.agent_service_account, "\""));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Options> ParseOptions(absl::Span<const std::string> arguments) {
  Options options;
  const std::vector<Flag> flags = Flags(options);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::pair<std::string, std::string> split =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    const Flag* found = nullptr;
    for (const Flag& flag : flags) {
      if (split.first == absl::StrCat("--", flag.name)) found = &flag;
    }
    if (found == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown argument \"", argument, "\"; see --help"));
    }
    if (absl::StrContains(argument, '=')) {
      found->value = split.second;
    } else if (i + 1 < arguments.size()) {
      found->value = arguments[++i];
    } else {
      return absl::InvalidArgumentError(absl::StrCat(argument, " needs a value; see --help"));
    }
    if (found->value.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("--", found->name, " must not be empty"));
    }
  }
  const absl::Status checked = Check(options);
  if (!checked.ok()) return checked;
  return options;
}

std::string OptionsHelp() {
  Options defaults;
  std::string help =
      "reclaim-operator: decides what each node's memory reclaim should be and serves it to the "
      "agents\n\n";
  for (const Flag& flag : Flags(defaults)) {
    absl::StrAppend(&help, "  --", flag.name, "\n      ", flag.meaning);
    if (!flag.value.empty()) absl::StrAppend(&help, " (", flag.value, ")");
    absl::StrAppend(&help, "\n");
  }
  absl::StrAppend(&help, "  --version\n      prints the version\n",
                  "  --metrics-reference\n      prints the page of all metrics\n");
  return help;
}

Options ParseOptionsOrExit(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      fputs(OptionsHelp().c_str(), stdout);
      exit(0);
    }
    if (argument == "--version") {
      printf("reclaim-operator %s\n", std::string(Version()).c_str());
      exit(0);
    }
    if (argument == "--metrics-reference") {
      fputs(OperatorMetricReference().c_str(), stdout);
      exit(0);
    }
  }
  absl::StatusOr<Options> options = ParseOptions(arguments);
  if (options.ok()) return *std::move(options);
  fprintf(stderr, "reclaim-operator: %s\n", std::string(options.status().message()).c_str());
  exit(2);
}

}  // namespace reclaim::op
