// SPDX-License-Identifier: Apache-2.0
#include "node-agent/state/journal.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <exception>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "nlohmann/json.hpp"
#include "node-agent/state/durable_file.h"

namespace reclaim::agent {
namespace {

using nlohmann::json;

constexpr size_t kMaxJournal = size_t{1024} * 1024;
constexpr int kFormat = 1;

template <typename T>
void PutOptional(json& object, const char* name, const std::optional<T>& value) {
  if (value.has_value()) object[name] = *value;
}

// nlohmann-json would convert a fraction, or a number that does not fit, without a word.
template <typename T>
T Integer(const json& value) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<T>(value.get<uint64_t>())
                        : value.is_number_integer() && std::in_range<T>(value.get<int64_t>());
  if (!fits)
    throw std::out_of_range(
        absl::StrCat("a ", value.type_name(), " that is no whole number, or too large"));
  return static_cast<T>(value.get<int64_t>());
}

template <typename T>
std::optional<T> GetOptional(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  if constexpr (std::is_same_v<T, bool>) {
    return found->get<bool>();
  } else {
    return Integer<T>(*found);
  }
}

// A name that is free: the first damaged journal knows most.
std::string Aside(const std::string& path) {
  constexpr int kMost = 9;
  std::string aside = absl::StrCat(path, ".corrupt");
  for (int i = 2; i <= kMost && access(aside.c_str(), F_OK) == 0; ++i) {
    aside = absl::StrCat(path, ".corrupt", i);
  }
  return aside;
}

}  // namespace

std::string FormatJournal(const JournalContent& content) {
  json settings = json::array();
  for (const auto& [key, entry] : content.entries) {
    json setting = {{"name", key.name}, {"original", entry.original}, {"restore", entry.restore}};
    PutOptional(setting, "numaNode", key.numa_node);
    PutOptional(setting, "requested", entry.requested);
    PutOptional(setting, "effective", entry.effective);
    PutOptional(setting, "pending", entry.pending);
    settings.push_back(std::move(setting));
  }
  json document = {{"format", kFormat}, {"bootId", content.boot_id}, {"settings", settings}};
  if (content.originals_lost) document["originalsLost"] = true;
  return absl::StrCat(document.dump(2, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace),
                      "\n");
}

absl::StatusOr<JournalContent> ParseJournal(absl::string_view text) {
  // nlohmann-json throws on type errors, Integer on others; nothing leaves this function but a
  // status.
  try {
    const json document = json::parse(text.begin(), text.end());
    if (Integer<int>(document.at("format")) != kFormat) {
      return absl::InvalidArgumentError(absl::StrCat("format is not ", kFormat));
    }
    JournalContent content;
    content.boot_id = document.at("bootId").get<std::string>();
    content.originals_lost = GetOptional<bool>(document, "originalsLost").value_or(false);
    for (const json& setting : document.at("settings")) {
      const SettingKey key{setting.at("name").get<std::string>(),
                           GetOptional<int>(setting, "numaNode")};
      JournalEntry entry;
      entry.original = Integer<int64_t>(setting.at("original"));
      entry.requested = GetOptional<int64_t>(setting, "requested");
      entry.effective = GetOptional<int64_t>(setting, "effective");
      entry.pending = GetOptional<int64_t>(setting, "pending");
      entry.restore = setting.at("restore").get<bool>();
      if (!content.entries.emplace(key, entry).second) {
        return absl::InvalidArgumentError(absl::StrCat(key.name, " comes twice"));
      }
    }
    return content;
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

absl::StatusOr<Journal> Journal::Open(std::string path, std::string boot_id) {
  Journal journal(std::move(path), std::move(boot_id));
  absl::StatusOr<std::optional<std::string>> text = ReadWhole(journal.path_, kMaxJournal);
  // Too long, or a folder (EISDIR): damaged too. Anything else may pass.
  if (!text.ok() && !absl::IsOutOfRange(text.status()) &&
      !absl::IsFailedPrecondition(text.status())) {
    return text.status();
  }
  if (text.ok() && !text->has_value()) return journal;

  absl::StatusOr<JournalContent> content =
      text.ok() ? ParseJournal(**text) : absl::StatusOr<JournalContent>(text.status());
  if (!content.ok()) {
    const std::string aside = Aside(journal.path_);
    if (rename(journal.path_.c_str(), aside.c_str()) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("rename ", journal.path_, " to ", aside));
    }
    journal.damage_ = absl::StrCat("the journal could not be read (", content.status().message(),
                                   "); original values written before are in ", aside);
    LogError("journal damaged", {{"damage", journal.damage_}});
    // At once: the next process must know it too.
    journal.originals_lost_ = true;
    journal.replace_ = true;
    if (const absl::Status saved = journal.Save(); !saved.ok()) {
      LogError("journal not written", {{"error", saved.message()}});
    }
    return journal;
  }
  if (content->boot_id != journal.boot_id_) {
    for (const auto& [key, entry] : content->entries) {
      journal.interrupted_ = journal.interrupted_ || entry.pending.has_value();
    }
    journal.replace_ = true;
    LogInfo("journal of another boot not used", {{"entries", content->entries.size()}});
    return journal;
  }
  journal.entries_ = std::move(content->entries);
  journal.saved_ = journal.entries_;
  journal.originals_lost_ = content->originals_lost;
  return journal;
}

JournalEntry* Journal::Find(const SettingKey& key) {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

JournalEntry& Journal::Put(const SettingKey& key, JournalEntry entry) {
  return entries_.insert_or_assign(key, entry).first->second;
}

void Journal::Erase(const SettingKey& key) { entries_.erase(key); }

absl::Status Journal::Save() {
  if (!replace_ && entries_ == saved_) return absl::OkStatus();
  if (absl::Status status =
          WriteDurably(path_, FormatJournal({boot_id_, entries_, originals_lost_}));
      !status.ok()) {
    return status;
  }
  saved_ = entries_;
  replace_ = false;
  return absl::OkStatus();
}

}  // namespace reclaim::agent
