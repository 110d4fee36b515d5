// SPDX-License-Identifier: Apache-2.0
#include "operator/pki/certificate_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace reclaim::op {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct stat Stat(const std::string& path) {
  struct stat result = {};
  EXPECT_EQ(stat(path.c_str(), &result), 0) << path;
  return result;
}

TEST(CertificateFolder, ReplacesBothFilesAtOnceAndOnlyTheOwnerReadsThem) {
  auto folder = *CertificateFolder::Create(testing::TempDir());
  const absl::Time now = absl::FromUnixSeconds(1'790'000'000);
  ASSERT_TRUE(folder->Write({"cert 1", "key 1"}, now).ok());
  EXPECT_EQ(Read(folder->certificate_path()), "cert 1");
  EXPECT_EQ(Stat(folder->key_path()).st_mode & 0777, 0600u);
  const auto before = Stat(folder->certificate_path()).st_mtime;
  // Within the same second, and even with a clock that goes back: gRPC compares whole seconds.
  ASSERT_TRUE(folder->Write({"cert 2", "key 2"}, now - absl::Hours(1)).ok());
  EXPECT_EQ(Read(folder->certificate_path()), "cert 2");
  EXPECT_EQ(Read(folder->key_path()), "key 2");
  EXPECT_GT(Stat(folder->certificate_path()).st_mtime, before);
  EXPECT_GT(Stat(folder->key_path()).st_mtime, before);
}

TEST(CertificateFolder, LeavesNothingBehind) {
  auto folder = *CertificateFolder::Create(testing::TempDir());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(folder->Write({"c", "k"}, absl::UnixEpoch()).ok());
  const std::filesystem::path path =
      std::filesystem::path(folder->key_path()).parent_path().parent_path();
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path)) ++entries;
  EXPECT_EQ(entries, 2);  // the present version and the link to it
  EXPECT_EQ(Stat(path).st_mode & 0777, 0700u);
  folder.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(CertificateFolder, SaysWhereItCouldNotBeMade) {
  const auto folder = CertificateFolder::Create("/nonexistent");
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.status().message().find("/nonexistent"), std::string::npos);
}

}  // namespace
}  // namespace reclaim::op
