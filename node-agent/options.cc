// SPDX-License-Identifier: Apache-2.0
#include "node-agent/options.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/units.h"

namespace reclaim::agent {
namespace {

struct TextOption {
  absl::string_view name;
  std::string AgentOptions::*field;
  std::string HostPaths::*host_field;
  absl::string_view argument;
  absl::string_view help;
};

constexpr TextOption kTextOptions[] = {
    {"policy", &AgentOptions::policy, nullptr, "FILE",
     "run alone with the ReclaimPolicy manifest in FILE; it is read again when it changes"},
    {"operator-address", &AgentOptions::operator_address, nullptr, "HOST:PORT",
     "run what the operator serves for this node"},
    {"operator-server-name", &AgentOptions::operator_server_name, nullptr, "NAME",
     "name in the operator's certificate, when it is not HOST"},
    {"node-name", &AgentOptions::node_name, nullptr, "NAME",
     "name of this node, for the operator to compare with the token's; else $NODE_NAME"},
    {"operator-ca", &AgentOptions::operator_ca, nullptr, "FILE",
     "CA certificate that the operator's is checked with; read for each connection"},
    {"token-file", &AgentOptions::token_file, nullptr, "FILE",
     "service-account token that proves which node this is; read for each connection"},
    {"state-dir", &AgentOptions::state_dir, nullptr, "DIR",
     "journal of original values and last good spec; must outlive restarts"},
    {"metrics-address", &AgentOptions::metrics_address, nullptr, "[HOST]:PORT",
     "where /metrics is served"},
    {"health-address", &AgentOptions::health_address, nullptr, "[HOST]:PORT",
     "where /healthz and /readyz are served"},
    {"host-proc", nullptr, &HostPaths::proc, "DIR", "the host's /proc (read)"},
    {"host-proc-sys-vm", nullptr, &HostPaths::proc_sys_vm, "DIR",
     "the host's /proc/sys/vm (written)"},
    {"host-node", nullptr, &HostPaths::node, "DIR",
     "the host's /sys/devices/system/node (written)"},
    {"host-sys", nullptr, &HostPaths::sys, "DIR", "the host's /sys (read)"},
    {"host-cgroup", nullptr, &HostPaths::cgroup, "DIR", "the host's /sys/fs/cgroup (written)"},
};

struct SwitchOption {
  absl::string_view name;
  bool AgentOptions::*field;
  absl::string_view help;
};

constexpr SwitchOption kSwitchOptions[] = {
    {"check", &AgentOptions::check, "only check the --policy file; exit code 0 when it is good"},
    {"metrics-reference", &AgentOptions::metrics_reference, "print the page of all metrics"},
    {"version", &AgentOptions::version, "print the version"},
    {"help", &AgentOptions::help, "print this"},
};

std::string& FieldOf(const TextOption& option, AgentOptions& options) {
  return option.field != nullptr ? options.*option.field : options.host.*option.host_field;
}

absl::Status SetTick(absl::string_view value, AgentOptions& options) {
  absl::StatusOr<absl::Duration> tick = ParseDuration(value);
  if (!tick.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--tick: ", tick.status().message()));
  }
  if (*tick < absl::Milliseconds(100) || *tick > absl::Minutes(5)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tick must be between 100ms and 5m; got ", absl::FormatDuration(*tick)));
  }
  options.tick = *tick;
  return absl::OkStatus();
}

absl::Status SetText(absl::string_view name, absl::string_view value, AgentOptions& options) {
  if (name == "tick") return SetTick(value, options);
  const auto* option = std::find_if(std::begin(kTextOptions), std::end(kTextOptions),
                                    [name](const TextOption& o) { return o.name == name; });
  if (option == std::end(kTextOptions)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": there is no such option; see --help"));
  }
  FieldOf(*option, options) = std::string(value);
  return absl::OkStatus();
}

absl::Status CheckTogether(const AgentOptions& options) {
  if (options.help || options.version || options.metrics_reference) return absl::OkStatus();
  if (options.check && options.policy.empty()) {
    return absl::InvalidArgumentError("--check needs --policy FILE");
  }
  if (options.policy.empty() == options.operator_address.empty()) {
    return absl::InvalidArgumentError(
        "exactly one of --policy FILE (alone) and --operator-address HOST:PORT (in a cluster) says "
        "what to run");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AgentOptions> ParseAgentOptions(absl::Span<const absl::string_view> arguments) {
  AgentOptions options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::string_view argument = arguments[i];
    if (!absl::ConsumePrefix(&argument, "--")) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", arguments[i], "\" is not an option; options begin with --"));
    }
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    const bool has_value = absl::StrContains(argument, "=");
    const auto* flag = std::find_if(std::begin(kSwitchOptions), std::end(kSwitchOptions),
                                    [&](const SwitchOption& o) { return o.name == parts.first; });
    if (flag != std::end(kSwitchOptions)) {
      if (has_value) {
        return absl::InvalidArgumentError(absl::StrCat("--", flag->name, " takes no value"));
      }
      options.*flag->field = true;
      continue;
    }
    if (!has_value && i + 1 == arguments.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", parts.first, ": there is no such option, or its value is missing; see --help"));
    }
    const absl::string_view value = has_value ? parts.second : arguments[++i];
    if (absl::Status status = SetText(parts.first, value, options); !status.ok()) return status;
  }
  if (absl::Status status = CheckTogether(options); !status.ok()) return status;
  return options;
}

std::string AgentHelp() {
  AgentOptions defaults;
  std::string help =
      "Sets the memory reclaim settings of this node as a ReclaimPolicy says, reclaims\n"
      "proactively, and serves what reclaim does to Prometheus.\n\n"
      "  reclaim-node-agent --policy FILE             alone, with a manifest\n"
      "  reclaim-node-agent --operator-address H:P    in a cluster, as the operator says\n\n"
      "Options:\n";
  for (const TextOption& option : kTextOptions) {
    const std::string& value = FieldOf(option, defaults);
    absl::StrAppend(&help, "  --", option.name, " ", option.argument, "\n        ", option.help,
                    value.empty() ? "" : absl::StrCat(" (", value, ")"), "\n");
  }
  absl::StrAppend(&help, "  --tick DURATION\n        how often settings are looked at (",
                  absl::FormatDuration(defaults.tick), ")\n");
  for (const SwitchOption& option : kSwitchOptions) {
    absl::StrAppend(&help, "  --", option.name, "\n        ", option.help, "\n");
  }
  absl::StrAppend(&help,
                  "\nExit codes: 0 after SIGTERM or SIGINT; 1 when something it needs is missing; "
                  "2 for a bad\noption or policy file. Values stay as they are when the agent "
                  "ends.\n");
  return help;
}

}  // namespace reclaim::agent
