// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_TESTING_TEMP_DIR_H_
#define RECLAIM_KUBE_TESTING_TEMP_DIR_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace reclaim::kube::testing {

// A folder of a test's own; removed with it.
class TempDir {
 public:
  TempDir() {
    std::string name = ::testing::TempDir() + "kube_test_XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string Path(const std::string& name) const { return (path_ / name).string(); }

  // Writes a file, folders included, and returns its path.
  std::string Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace reclaim::kube::testing

#endif  // RECLAIM_KUBE_TESTING_TEMP_DIR_H_
