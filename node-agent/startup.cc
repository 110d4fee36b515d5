// SPDX-License-Identifier: Apache-2.0
#include "node-agent/startup.h"

#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/process_metrics.h"
#include "node-agent/host/file_io.h"
#include "node-agent/observe/metric_rows.h"
#include "node-agent/policy_file/policy_file.h"

namespace reclaim::agent {
namespace {

[[noreturn]] void PrintAndExit(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::exit(0);
}

[[noreturn]] void ExitUsage(const absl::Status& status) {
  std::fprintf(stderr, "reclaim-node-agent: %s\n", std::string(status.message()).c_str());
  std::exit(kExitUsage);
}

}  // namespace

AgentOptions ParseAgentOptionsOrExit(int argc, char** argv) {
  const std::vector<absl::string_view> arguments(argv + 1, argv + argc);
  absl::StatusOr<AgentOptions> options = ParseAgentOptions(arguments);
  if (!options.ok()) ExitUsage(options.status());
  const char* node_name = std::getenv("NODE_NAME");
  if (options->node_name.empty() && node_name != nullptr) options->node_name = node_name;
  if (options->help) PrintAndExit(AgentHelp());
  if (options->version) PrintAndExit(absl::StrCat(Version(), "\n"));
  if (options->metrics_reference) PrintAndExit(AgentMetricReference());
  if (!options->policy.empty()) {
    // A bad file ends a start, for whoever starts it to see; a bad change later is only reported.
    const std::optional<absl::StatusOr<SpecUpdate>> policy = PolicyFile(options->policy).Poll();
    if (policy.has_value() && !policy->ok()) ExitUsage(policy->status());
    if (options->check) PrintAndExit(absl::StrCat(options->policy, ": good\n"));
  }
  return *std::move(options);
}

Journal OpenJournalOrExit(const std::string& state_dir, const HostFiles& files) {
  const Maybe<std::string> boot_id = ReadFile(files.BootId());
  if (!boot_id.ok() || !boot_id->has_value()) {
    std::fprintf(stderr, "reclaim-node-agent: %s cannot be read (%s); is --host-proc right?\n",
                 files.BootId().path.c_str(),
                 boot_id.ok() ? "no such file" : std::string(boot_id.status().message()).c_str());
    std::exit(kExitMissing);
  }
  return OrExit(Journal::Open(absl::StrCat(state_dir, "/journal.json"),
                              std::string(absl::StripAsciiWhitespace(**boot_id))));
}

}  // namespace reclaim::agent
