// SPDX-License-Identifier: Apache-2.0
#include "node-agent/testing/fake_host.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace reclaim::agent {
namespace fs = std::filesystem;

FakeHost::FakeHost() {
  std::string pattern = fs::temp_directory_path() / "reclaim-host-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  root_ = pattern;
  fs::create_directories(StateDir());
}

FakeHost::~FakeHost() {
  std::error_code error;
  fs::remove_all(root_, error);
  if (error) std::fprintf(stderr, "%s stays: %s\n", root_.c_str(), error.message().c_str());
}

void FakeHost::Put(const std::string& file, absl::string_view text) {
  const fs::path path = fs::path(root_) / file;
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string FakeHost::Get(const std::string& file) const {
  std::ostringstream text;
  text << std::ifstream(fs::path(root_) / file).rdbuf();
  return text.str();
}

void FakeHost::Remove(const std::string& file) { fs::remove_all(fs::path(root_) / file); }

void FakeHost::PutCaptured(const std::string& kernel) {
  fs::copy(absl::StrCat(RECLAIM_SOURCE_DIR, "/node-agent/testdata/", kernel), root_,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

HostPaths FakeHost::Paths() const {
  return {.proc = root_ + "/proc",
          .proc_sys_vm = root_ + "/proc/sys/vm",
          .node = root_ + "/sys/devices/system/node",
          .sys = root_ + "/sys",
          .cgroup = root_ + "/sys/fs/cgroup"};
}

int ScriptedWriter::Write(const KernelFile& file, absl::string_view text) {
  std::function<int(absl::string_view)> answer;
  {
    absl::MutexLock lock(&mutex_);
    writes_.push_back(absl::StrCat(file.name, "=", text));
    const auto found = answers_.find(file.name);
    if (found != answers_.end()) answer = found->second;
  }
  return answer != nullptr ? answer(text) : real_.Write(file, text);
}

void ScriptedWriter::Answer(const std::string& name,
                            std::function<int(absl::string_view text)> answer) {
  absl::MutexLock lock(&mutex_);
  answers_[name] = std::move(answer);
}

std::vector<std::string> ScriptedWriter::writes() const {
  absl::MutexLock lock(&mutex_);
  return writes_;
}

}  // namespace reclaim::agent
