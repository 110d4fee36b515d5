// SPDX-License-Identifier: Apache-2.0
#include "node-agent/apply/setting_applier.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "common/reasons.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node-agent/testing/fake_host.h"

namespace reclaim::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kSwappiness[] = "/proc/sys/vm/swappiness";
constexpr char kSwappinessFile[] = "proc/sys/vm/swappiness";

class SettingApplierTest : public testing::Test {
 protected:
  SettingApplierTest() {
    host_.Put(kSwappinessFile, "60\n");
    host_.Put("proc/sys/vm/vfs_cache_pressure", "100\n");
    Restart("boot-1");
  }

  // As after kill -9: only the files are left.
  void Restart(const std::string& boot_id) {
    journal_ = std::make_unique<Journal>(
        Journal::Open(host_.StateDir() + "/journal.json", boot_id).value());
    applier_ = std::make_unique<SettingApplier>(files_, writer_, *journal_);
  }

  DesiredSetting Swappiness(int64_t value) const {
    return {*FindSetting({"vm.swappiness", std::nullopt}, files_), value, ""};
  }

  std::vector<SettingReport> Apply(std::vector<DesiredSetting> desired,
                                   ApplyMode mode = ApplyMode::kEnforce, bool restore = true) {
    return applier_->Apply({std::move(desired), mode, restore}, now_);
  }
  SettingReport ApplyOne(int64_t value, ApplyMode mode = ApplyMode::kEnforce) {
    return Apply({Swappiness(value)}, mode).at(0);
  }
  SettingReport Leave() {
    applier_->NewSpec();
    return Apply({}).at(0);
  }
  // Writes from now on change the value and fail all the same; nullptr ends it.
  void RefuseAfterPutting(const std::string& value) {
    writer_.Answer(kSwappiness, [this, value](absl::string_view) {
      host_.Put(kSwappinessFile, value);
      return ENOMEM;
    });
  }
  std::string value() const {
    const std::string text = host_.Get(kSwappinessFile);
    return text.substr(0, text.find('\n'));
  }

  FakeHost host_;
  HostFiles files_{host_.Paths()};
  ScriptedWriter writer_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<SettingApplier> applier_;
  absl::Duration now_ = absl::Seconds(1000);
};

TEST_F(SettingApplierTest, WritesReadsBackAndReports) {
  const SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kApplied);
  EXPECT_EQ(report.desired, 45);
  EXPECT_EQ(report.effective, 45);
  EXPECT_EQ(report.original, 60);
  EXPECT_EQ(value(), "45");
  EXPECT_THAT(writer_.writes(), ElementsAre("/proc/sys/vm/swappiness=45"));
}

TEST_F(SettingApplierTest, WritesOnce) {
  ApplyOne(45);
  ApplyOne(45);
  EXPECT_EQ(ApplyOne(45).reason, reason::kApplied);
  EXPECT_THAT(writer_.writes(), testing::SizeIs(1));
}

TEST_F(SettingApplierTest, OriginalIsOnDiskBeforeTheWrite) {
  std::string journal_at_write;
  writer_.Answer(kSwappiness, [&](absl::string_view text) {
    journal_at_write = host_.Get("state/journal.json");
    host_.Put(kSwappinessFile, text);
    return 0;
  });
  ApplyOne(45);
  const JournalContent content = ParseJournal(journal_at_write).value();
  const JournalEntry& entry = content.entries.at({"vm.swappiness", std::nullopt});
  EXPECT_EQ(entry.original, 60);
  EXPECT_EQ(entry.pending, 45);
}

TEST_F(SettingApplierTest, WritesNothingWhenTheJournalCannotBeWritten) {
  host_.Remove("state");
  const SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kRefused);
  EXPECT_THAT(report.message, HasSubstr("original value cannot be kept safe"));
  EXPECT_FALSE(applier_->journal_status().ok());
  EXPECT_EQ(value(), "60");
  EXPECT_THAT(writer_.writes(), IsEmpty());
}

TEST_F(SettingApplierTest, ReportsWhatTheKernelClamped) {
  writer_.Answer(kSwappiness, [&](absl::string_view) {
    host_.Put(kSwappinessFile, "2\n");
    return 0;
  });
  SettingReport report = ApplyOne(16);
  EXPECT_EQ(report.reason, reason::kClamped);
  EXPECT_EQ(report.effective, 2);
  EXPECT_THAT(report.message, HasSubstr("wanted 16, the kernel took 2"));
  // It is the kernel's last word, not a foreign write.
  report = ApplyOne(16);
  EXPECT_EQ(report.reason, reason::kClamped);
  EXPECT_EQ(report.overridden_total, 0u);
  EXPECT_THAT(writer_.writes(), testing::SizeIs(1));
}

TEST_F(SettingApplierTest, ReportsErrnoAndTriesAgainWithABackoff) {
  writer_.Answer(kSwappiness, [](absl::string_view) { return EINVAL; });
  SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kRefused);
  EXPECT_THAT(report.message, HasSubstr("wanted 45, the kernel says EINVAL (Invalid argument)"));
  EXPECT_EQ(report.effective, 60);
  EXPECT_EQ(report.write_errors_total, 1u);
  const std::string message = report.message;

  now_ += absl::Seconds(9);
  report = ApplyOne(45);
  EXPECT_EQ(report.message, message);  // nothing new to send
  EXPECT_THAT(writer_.writes(), testing::SizeIs(1));
  now_ += absl::Seconds(1);
  ApplyOne(45);
  EXPECT_THAT(writer_.writes(), testing::SizeIs(2));
  now_ += absl::Seconds(19);
  ApplyOne(45);
  EXPECT_THAT(writer_.writes(), testing::SizeIs(2));
  // A new spec is a new chance.
  applier_->NewSpec();
  EXPECT_EQ(ApplyOne(45).write_errors_total, 3u);
  // What was never written leaves no trace.
  EXPECT_THAT(journal_->entries(), IsEmpty());
}

TEST_F(SettingApplierTest, AReadOnlyFileIsRefusedAndLeavesTheRestApplied) {
  writer_.Answer(kSwappiness, [](absl::string_view) { return EROFS; });
  const auto reports = Apply(
      {Swappiness(45), {*FindSetting({"vm.vfsCachePressure", std::nullopt}, files_), 150, ""}});
  EXPECT_EQ(reports[0].reason, reason::kRefused);
  EXPECT_THAT(reports[0].message, HasSubstr("EROFS"));
  EXPECT_EQ(reports[1].reason, reason::kApplied);
  EXPECT_EQ(host_.Get("proc/sys/vm/vfs_cache_pressure"), "150");
}

TEST_F(SettingApplierTest, NamesTheMissingFile) {
  host_.Remove(kSwappinessFile);
  const SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kUnsupported);
  EXPECT_EQ(report.message, "this kernel has no /proc/sys/vm/swappiness");
  EXPECT_EQ(report.effective, std::nullopt);
}

TEST_F(SettingApplierTest, AnUnreadableFileIsNotAMissingOne) {
  host_.Put(kSwappinessFile, "many\n");
  EXPECT_EQ(ApplyOne(45).reason, reason::kUnreadable);
  EXPECT_THAT(writer_.writes(), IsEmpty());
}

TEST_F(SettingApplierTest, AFileOfADeviceThatIsGoneIsAMissingOne) {
  // misc_open says ENODEV for a minor that nobody has, as a NUMA node without memory does.
  host_.Remove(kSwappinessFile);
  const std::string path = host_.root() + "/" + kSwappinessFile;
  if (mknod(path.c_str(), S_IFCHR | 0600, makedev(10, 253)) != 0) {
    GTEST_SKIP() << "may not make a device file here";
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  if (fd >= 0 || errno != ENODEV) GTEST_SKIP() << "this device file does not say ENODEV";
  const SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kUnsupported);
  EXPECT_EQ(report.message, "this kernel has no /proc/sys/vm/swappiness");
}

TEST_F(SettingApplierTest, RefusesAValueOutsideTheApisRange) {
  EXPECT_EQ(ApplyOne(201).reason, reason::kInvalid);
  EXPECT_THAT(writer_.writes(), IsEmpty());
}

TEST_F(SettingApplierTest, ObserveSaysWhatItWouldWriteAndWritesNothing) {
  const SettingReport report = ApplyOne(45, ApplyMode::kObserve);
  EXPECT_EQ(report.reason, reason::kObserved);
  EXPECT_THAT(report.message, HasSubstr("45 would be written"));
  EXPECT_EQ(report.effective, 60);
  EXPECT_EQ(report.original, std::nullopt);
  EXPECT_THAT(writer_.writes(), IsEmpty());
  EXPECT_THAT(journal_->entries(), IsEmpty());
}

TEST_F(SettingApplierTest, PausedCorrectsNothing) {
  ApplyOne(45);
  host_.Put(kSwappinessFile, "77\n");
  EXPECT_EQ(ApplyOne(45, ApplyMode::kPaused).reason, reason::kPaused);
  EXPECT_EQ(value(), "77");
}

// --- Foreign writes.

TEST_F(SettingApplierTest, CorrectsAForeignWriteAtOnceAndSaysSoForAMinute) {
  ApplyOne(45);
  host_.Put(kSwappinessFile, "77\n");
  SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kOverridden);
  EXPECT_THAT(report.message, HasSubstr("someone else wrote 77; 45 was written again"));
  EXPECT_EQ(report.effective, 45);
  EXPECT_EQ(report.overridden_total, 1u);
  EXPECT_EQ(value(), "45");

  now_ += absl::Seconds(59);
  EXPECT_EQ(ApplyOne(45).reason, reason::kOverridden);
  now_ += absl::Seconds(1);
  report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kApplied);
  EXPECT_EQ(report.overridden_total, 1u);
  EXPECT_EQ(report.original, 60);
}

TEST_F(SettingApplierTest, BacksOffFromAWriterThatDoesNotStop) {
  ApplyOne(45);
  std::vector<int> corrected_after;  // seconds since the last correction
  absl::Duration last = now_;
  size_t writes = writer_.writes().size();
  for (int second = 0; second < 1200; ++second) {
    host_.Put(kSwappinessFile, "77\n");
    const SettingReport report = ApplyOne(45);
    EXPECT_EQ(report.reason, reason::kOverridden);
    if (writer_.writes().size() > writes) {
      writes = writer_.writes().size();
      corrected_after.push_back(static_cast<int>(absl::ToInt64Seconds(now_ - last)));
      last = now_;
    }
    now_ += absl::Seconds(1);
  }
  // Each back-off begins when the value is seen to be foreign again, a second after the correction.
  EXPECT_THAT(corrected_after, ElementsAre(0, 11, 21, 41, 81, 161, 301, 301));
}

TEST_F(SettingApplierTest, ForeignWritesFarApartAreCorrectedAtOnce) {
  ApplyOne(45);
  for (int i = 1; i <= 3; ++i) {
    host_.Put(kSwappinessFile, "77\n");
    EXPECT_EQ(ApplyOne(45).effective, 45);
    now_ += SettingApplier::kQuiet;
    EXPECT_EQ(ApplyOne(45).overridden_total, static_cast<uint64_t>(i));
  }
}

TEST_F(SettingApplierTest, AChangeOfTheSpecIsNoForeignWrite) {
  ApplyOne(45);
  const SettingReport report = ApplyOne(46);
  EXPECT_EQ(report.reason, reason::kApplied);
  EXPECT_EQ(report.overridden_total, 0u);
  EXPECT_EQ(report.original, 60);
}

TEST_F(SettingApplierTest, ANewValueDoesNotWaitBehindForeignWritesOfTheOld) {
  ApplyOne(45);
  for (int i = 0; i < 4; ++i) {
    host_.Put(kSwappinessFile, "77\n");
    ApplyOne(45);
    now_ += absl::Seconds(1);
  }
  ASSERT_EQ(value(), "77");  // waits
  applier_->NewSpec();
  EXPECT_EQ(ApplyOne(45).effective, 77);  // the same value goes on waiting
  applier_->NewSpec();
  EXPECT_EQ(ApplyOne(46).effective, 46);
  EXPECT_EQ(value(), "46");
}

// --- Writes that succeed in part: the kernel started some of the workers, then had no memory.

TEST_F(SettingApplierTest, ARefusedWriteThatChangedTheValueKeepsTheTrueOriginal) {
  RefuseAfterPutting("50");
  SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kRefused);
  EXPECT_THAT(report.message, HasSubstr("wanted 45, the kernel says ENOMEM"));
  EXPECT_THAT(report.message, HasSubstr("reads back 50"));
  EXPECT_EQ(report.effective, 50);
  EXPECT_EQ(report.original, 60);

  // Tried again, with the same original, and no one else is blamed.
  writer_.Answer(kSwappiness, nullptr);
  now_ += absl::Seconds(10);
  report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kApplied);
  EXPECT_EQ(report.original, 60);
  EXPECT_EQ(report.overridden_total, 0u);
  EXPECT_EQ(Leave().reason, reason::kRestored);
  EXPECT_EQ(value(), "60");
}

TEST_F(SettingApplierTest, RestoresFromARefusedFirstWriteThatChangedTheValue) {
  RefuseAfterPutting("50");
  ApplyOne(45);
  Restart("boot-1");
  writer_.Answer(kSwappiness, nullptr);
  EXPECT_EQ(Leave().reason, reason::kRestored);
  EXPECT_EQ(value(), "60");
}

TEST_F(SettingApplierTest, ARefusedChangeThatStoppedHalfwayIsNoForeignWrite) {
  ApplyOne(45);
  RefuseAfterPutting("41");
  SettingReport report = ApplyOne(40);
  EXPECT_EQ(report.reason, reason::kRefused);
  EXPECT_EQ(report.effective, 41);
  now_ += absl::Seconds(10);
  RefuseAfterPutting("41");
  report = ApplyOne(40);
  EXPECT_EQ(report.reason, reason::kRefused);
  EXPECT_EQ(report.overridden_total, 0u);

  // Back to what was in force before: it is written, for it is in force no longer.
  writer_.Answer(kSwappiness, nullptr);
  applier_->NewSpec();
  report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kApplied);
  EXPECT_EQ(report.overridden_total, 0u);
  EXPECT_EQ(value(), "45");
}

TEST_F(SettingApplierTest, RestoresFromARefusedChangeThatStoppedHalfway) {
  ApplyOne(45);
  RefuseAfterPutting("41");
  ApplyOne(40);
  writer_.Answer(kSwappiness, nullptr);
  EXPECT_EQ(Leave().reason, reason::kRestored);
  EXPECT_EQ(value(), "60");
}

TEST_F(SettingApplierTest, ARestoreThatStoppedHalfwayIsTriedAgain) {
  ApplyOne(45);
  RefuseAfterPutting("55");
  EXPECT_EQ(Leave().reason, reason::kRefused);
  writer_.Answer(kSwappiness, nullptr);
  now_ += absl::Seconds(10);
  EXPECT_EQ(Apply({}).at(0).reason, reason::kRestored);
  EXPECT_EQ(value(), "60");
}

TEST_F(SettingApplierTest, KilledAfterTheWriteAndRefusedThenItKeepsTheTrueOriginal) {
  journal_->Put({"vm.swappiness", std::nullopt}, {60, {}, {}, 45, true});
  ASSERT_TRUE(journal_->Save().ok());
  host_.Put(kSwappinessFile, "45\n");
  Restart("boot-1");
  writer_.Answer(kSwappiness, [](absl::string_view) { return ENOMEM; });
  EXPECT_EQ(ApplyOne(40).original, 60);
  writer_.Answer(kSwappiness, nullptr);
  EXPECT_EQ(Leave().reason, reason::kRestored);
  EXPECT_EQ(value(), "60");
}

// --- Restarts.

TEST_F(SettingApplierTest, KeepsTheValueAndTheOriginalWhenTheAgentIsKilled) {
  ApplyOne(45);
  Restart("boot-1");
  EXPECT_EQ(value(), "45");
  const SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kApplied);
  EXPECT_EQ(report.original, 60);
  EXPECT_THAT(writer_.writes(), testing::SizeIs(1));
}

TEST_F(SettingApplierTest, SeesAForeignWriteThatCameWhileItWasAway) {
  ApplyOne(45);
  Restart("boot-1");
  host_.Put(kSwappinessFile, "90\n");
  const SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kOverridden);
  EXPECT_EQ(report.overridden_total, 1u);
  EXPECT_EQ(value(), "45");
}

TEST_F(SettingApplierTest, KilledBetweenJournalAndWriteItWritesWithTheTrueOriginal) {
  journal_->Put({"vm.swappiness", std::nullopt}, {60, {}, {}, 45, true});
  ASSERT_TRUE(journal_->Save().ok());
  Restart("boot-1");
  const SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kApplied);
  EXPECT_EQ(report.original, 60);
  EXPECT_EQ(report.overridden_total, 0u);
  EXPECT_EQ(value(), "45");
}

TEST_F(SettingApplierTest, KilledBetweenWriteAndConfirmationItRestoresAllTheSame) {
  journal_->Put({"vm.swappiness", std::nullopt}, {60, {}, {}, 45, true});
  ASSERT_TRUE(journal_->Save().ok());
  host_.Put(kSwappinessFile, "45\n");
  Restart("boot-1");
  EXPECT_EQ(Leave().reason, reason::kRestored);
  EXPECT_EQ(value(), "60");
}

TEST_F(SettingApplierTest, DoesNotUseTheJournalOfAnotherBoot) {
  ApplyOne(45);
  Restart("boot-2");
  host_.Put(kSwappinessFile, "100\n");  // this boot's own value
  SettingReport report = ApplyOne(45);
  EXPECT_EQ(report.reason, reason::kApplied);
  EXPECT_EQ(report.overridden_total, 0u);
  EXPECT_EQ(report.original, 100);
  EXPECT_EQ(Leave().reason, reason::kRestored);
  EXPECT_EQ(value(), "100");
}

// --- A setting leaves the spec.

TEST_F(SettingApplierTest, RestoresWhatLeavesTheSpecAndOnlyThat) {
  Apply({Swappiness(45), {*FindSetting({"vm.vfsCachePressure", std::nullopt}, files_), 150, ""}});
  applier_->NewSpec();
  const auto reports = Apply({Swappiness(45)});
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].reason, reason::kApplied);
  EXPECT_EQ(reports[1].key.name, "vm.vfsCachePressure");
  EXPECT_EQ(reports[1].reason, reason::kRestored);
  EXPECT_EQ(reports[1].desired, std::nullopt);
  EXPECT_EQ(host_.Get("proc/sys/vm/vfs_cache_pressure"), "100");
  EXPECT_EQ(value(), "45");
  // It stays in the report until the next spec, then it is history.
  EXPECT_THAT(Apply({Swappiness(45)}), testing::SizeIs(2));
  applier_->NewSpec();
  EXPECT_THAT(Apply({Swappiness(45)}), testing::SizeIs(1));
}

TEST_F(SettingApplierTest, RestoresAfterARestartToo) {
  ApplyOne(45);
  Restart("boot-1");
  EXPECT_EQ(Leave().reason, reason::kRestored);
  EXPECT_EQ(value(), "60");
  Restart("boot-1");
  EXPECT_THAT(Apply({}), IsEmpty());
}

TEST_F(SettingApplierTest, KeepsAValueThatSomeoneElseHasWrittenSince) {
  ApplyOne(45);
  host_.Put(kSwappinessFile, "77\n");
  const SettingReport report = Leave();
  EXPECT_EQ(report.reason, reason::kKept);
  EXPECT_THAT(report.message, HasSubstr("someone else wrote 77 since; the original was 60"));
  EXPECT_EQ(value(), "77");
  // Next time the foreign value is the original.
  EXPECT_EQ(ApplyOne(45).original, 77);
}

TEST_F(SettingApplierTest, KeepsTheValueWhenThePolicySaidKeep) {
  Apply({Swappiness(45)}, ApplyMode::kEnforce, /*restore=*/false);
  Restart("boot-1");  // the word stands in the journal, not only in the spec that is gone
  EXPECT_EQ(Leave().reason, reason::kKept);
  EXPECT_EQ(value(), "45");
}

TEST_F(SettingApplierTest, RestoresNothingWhereTheFileIsGone) {
  ApplyOne(45);
  host_.Remove(kSwappinessFile);
  const SettingReport report = Leave();
  EXPECT_EQ(report.reason, reason::kKept);  // nothing that the spec needs is missing
  EXPECT_THAT(report.message, HasSubstr("there is nothing to restore"));
  EXPECT_THAT(journal_->entries(), IsEmpty());
}

TEST_F(SettingApplierTest, KeepsTheValueWhenThePolicySaidKeepWhileItCouldNotWrite) {
  ApplyOne(45);
  writer_.Answer(kSwappiness, [](absl::string_view) { return EINVAL; });
  EXPECT_EQ(ApplyOne(46).reason, reason::kRefused);
  Apply({Swappiness(46)}, ApplyMode::kEnforce, /*restore=*/false);  // the refusal waits
  writer_.Answer(kSwappiness, nullptr);
  EXPECT_EQ(Leave().reason, reason::kKept);
  EXPECT_EQ(value(), "45");
}

TEST_F(SettingApplierTest, KeepsTheValueWhenThePausedPolicySaidKeep) {
  ApplyOne(45);
  Apply({Swappiness(45)}, ApplyMode::kPaused, /*restore=*/false);
  EXPECT_EQ(Leave().reason, reason::kKept);
  EXPECT_EQ(value(), "45");
}

TEST_F(SettingApplierTest, ObserveRestoresNothing) {
  ApplyOne(45);
  applier_->NewSpec();
  const auto reports = Apply({}, ApplyMode::kObserve);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].reason, reason::kObserved);
  EXPECT_EQ(value(), "45");
}

TEST_F(SettingApplierTest, TriesARefusedRestoreAgain) {
  ApplyOne(45);
  bool refuse = true;
  writer_.Answer(kSwappiness, [&](absl::string_view text) {
    if (refuse) return EBUSY;
    host_.Put(kSwappinessFile, text);
    return 0;
  });
  EXPECT_EQ(Leave().reason, reason::kRefused);
  refuse = false;
  EXPECT_EQ(Apply({}).at(0).reason, reason::kRefused);  // not before the back-off has passed
  now_ += absl::Seconds(10);
  EXPECT_EQ(Apply({}).at(0).reason, reason::kRestored);
  EXPECT_EQ(value(), "60");
}

TEST_F(SettingApplierTest, WhatWouldHarmIsNotWrittenAndTheOldValueStays) {
  ApplyOne(30);
  DesiredSetting harmful = Swappiness(45);
  harmful.harmful = "not written, because";
  const SettingReport report = Apply({harmful}).at(0);
  EXPECT_EQ(report.reason, reason::kInvalid);
  EXPECT_EQ(report.message, "not written, because");
  EXPECT_EQ(value(), "30");
}

TEST_F(SettingApplierTest, AfterADamagedJournalNoOriginalIsMadeUp) {
  ApplyOne(30);
  host_.Put("state/journal.json", "garbage");
  Restart("boot-1");
  EXPECT_EQ(ApplyOne(30).original, std::nullopt);
  // The next process knows it too, also of a setting that comes later: it may have been ours
  // before.
  Restart("boot-1");
  const DesiredSetting later = {*FindSetting({"vm.vfsCachePressure", std::nullopt}, files_), 50};
  EXPECT_EQ(Apply({Swappiness(30), later}).at(1).original, std::nullopt);
  EXPECT_EQ(ApplyOne(30).original, std::nullopt);
  const std::vector<SettingReport> left = (applier_->NewSpec(), Apply({}));
  EXPECT_EQ(left.at(0).key.name, "vm.swappiness");
  EXPECT_EQ(left.at(0).reason, reason::kKept);
  EXPECT_THAT(left.at(0).message, HasSubstr("damaged"));
  EXPECT_EQ(value(), "30");
}

TEST_F(SettingApplierTest, AnAnnouncedValueIsSettledInAnyMode) {
  ApplyOne(30);
  journal_->Find({"vm.swappiness", std::nullopt})->pending = 31;
  ApplyOne(31, ApplyMode::kPaused);
  Restart("boot-2");
  EXPECT_FALSE(journal_->interrupted());
}

TEST_F(SettingApplierTest, TheMessageOfAFightStaysTheSame) {
  ApplyOne(30);
  host_.Put(kSwappinessFile, "1");
  ApplyOne(30);
  host_.Put(kSwappinessFile, "2");
  const SettingReport first = ApplyOne(30);
  ASSERT_EQ(first.reason, reason::kOverridden);
  host_.Put(kSwappinessFile, "3");
  EXPECT_EQ(ApplyOne(30).message, first.message);
}

}  // namespace
}  // namespace reclaim::agent
