// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_OPTIONS_H_
#define RECLAIM_OPERATOR_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "operator/operator.h"

namespace reclaim::op {

// The command line of reclaim-operator.
struct Options {
  std::string kubeconfig;  // empty: as kubectl finds it, or the pod's service account
  std::string metrics_address = "[::]:8080";
  std::string health_address = "[::]:8081";
  OperatorOptions op;
};

// `arguments` without the program's name: "--flag=value" or "--flag value". Pure.
// kInvalidArgument names the flag and what it takes.
absl::StatusOr<Options> ParseOptions(absl::Span<const std::string> arguments);

// Text of --help, one line for each flag.
std::string OptionsHelp();

// The same for main(): prints help, version or metrics and exits 0 when asked to, prints the error
// and exits 2.
Options ParseOptionsOrExit(int argc, char** argv);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_OPTIONS_H_
