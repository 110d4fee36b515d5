// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_STATE_JOURNAL_H_
#define RECLAIM_NODE_AGENT_STATE_JOURNAL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reclaim::agent {

// Names one value of the host: the API's name and, for a value of one NUMA node, that NUMA node.
struct SettingKey {
  std::string name;
  std::optional<int> numa_node;

  friend bool operator==(const SettingKey&, const SettingKey&) = default;
  // clang-tidy 14 takes the 0 of the generated comparison for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const SettingKey&, const SettingKey&) = default;
};

// What must be known to undo a setting.
struct JournalEntry {
  // The value before the first write of this boot.
  int64_t original = 0;
  // The value last asked for, and what read back after it; absent until a write has succeeded.
  // After a write that failed halfway `effective` is where it stopped, and `requested` is absent.
  std::optional<int64_t> requested;
  std::optional<int64_t> effective;
  // A write that has been announced and not yet confirmed: after a crash the value may be either.
  std::optional<int64_t> pending;
  // What to do when the setting leaves the spec: back to `original`, or keep the value.
  bool restore = true;

  friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

// Crash-safe record of the originals, valid for one boot: after a reboot the kernel has its own
// values again, and the old record would restore the wrong ones.
//
// Changes stay in memory until Save. Not thread-safe.
class Journal {
 public:
  // Reads `path`. A journal of another boot is not used (and replaced by the next Save); one that
  // cannot be understood is kept beside as `path`.corrupt (.corrupt2 to .corrupt9 when there is
  // one) and `damage` tells about it. Error: it cannot be read, or not be moved aside.
  static absl::StatusOr<Journal> Open(std::string path, std::string boot_id);

  const std::map<SettingKey, JournalEntry>& entries() const { return entries_; }
  JournalEntry* Find(const SettingKey& key);
  JournalEntry& Put(const SettingKey& key, JournalEntry entry);
  void Erase(const SettingKey& key);

  // Makes the entries durable; does nothing when none has changed since the last Save that
  // succeeded. Error: see WriteDurably.
  absl::Status Save();

  // Why this process could not read the journal; empty = it could.
  const std::string& damage() const { return damage_; }

  // The journal was damaged in this boot, before this process or by its start. All entries are from
  // after that, and each `original` may be a value of ours.
  bool originals_lost() const { return originals_lost_; }

  // The machine went down while a value was being written: perhaps because of it.
  bool interrupted() const { return interrupted_; }

 private:
  Journal(std::string path, std::string boot_id)
      : path_(std::move(path)), boot_id_(std::move(boot_id)) {}

  std::string path_;
  std::string boot_id_;
  std::map<SettingKey, JournalEntry> entries_;
  std::map<SettingKey, JournalEntry> saved_;
  std::string damage_;
  bool originals_lost_ = false;
  bool interrupted_ = false;
  bool replace_ =
      false;  // the file is not of this boot, or gone: Save writes also without a change
};

// The journal's text, a JSON document that a person can read. Pure.
struct JournalContent {
  std::string boot_id;
  std::map<SettingKey, JournalEntry> entries;
  bool originals_lost = false;
};
std::string FormatJournal(const JournalContent& content);
// Error: InvalidArgument.
absl::StatusOr<JournalContent> ParseJournal(absl::string_view text);

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_STATE_JOURNAL_H_
