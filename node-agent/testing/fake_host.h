// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_NODE_AGENT_TESTING_FAKE_HOST_H_
#define RECLAIM_NODE_AGENT_TESTING_FAKE_HOST_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "node-agent/host/file_io.h"
#include "node-agent/host/kernel_file.h"

namespace reclaim::agent {

// A host's kernel files as a tree of ordinary files in a temporary directory, gone with the object.
class FakeHost {
 public:
  FakeHost();
  ~FakeHost();
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  // "proc/vmstat", "sys/fs/cgroup/a/memory.current"; directories are made.
  void Put(const std::string& file, absl::string_view text);
  std::string Get(const std::string& file) const;
  void Remove(const std::string& file);
  // Copies a captured tree: "linux-7.3.4".
  void PutCaptured(const std::string& kernel);

  HostPaths Paths() const;
  std::string StateDir() const { return root_ + "/state"; }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

// Writes through to the files, keeps a record, and does what a test says instead of the kernel.
// Thread-safe.
class ScriptedWriter : public KernelWriter {
 public:
  int Write(const KernelFile& file, absl::string_view text) override;

  // `answer` is called for writes to the file an admin knows as `name` instead of writing; it
  // returns 0 or errno.
  void Answer(const std::string& name, std::function<int(absl::string_view text)> answer);
  // "NAME=TEXT" of every write, in order.
  std::vector<std::string> writes() const;

 private:
  RealKernelWriter real_;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::function<int(absl::string_view)>> answers_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> writes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reclaim::agent

#endif  // RECLAIM_NODE_AGENT_TESTING_FAKE_HOST_H_
