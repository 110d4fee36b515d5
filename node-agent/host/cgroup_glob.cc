// SPDX-License-Identifier: Apache-2.0
#include "node-agent/host/cgroup_glob.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reclaim::agent {
namespace {

// lstat, so that a link in a hostile tree leads nowhere.
bool IsDirectory(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Names of the directories in `path` that match. Gone meanwhile: none.
absl::StatusOr<std::vector<std::string>> MatchingDirectories(const std::string& path,
                                                             absl::string_view pattern) {
  std::vector<std::string> names;
  if (pattern.find('*') == absl::string_view::npos) {
    if (IsDirectory(absl::StrCat(path, "/", pattern))) names.emplace_back(pattern);
    return names;
  }
  DIR* dir = opendir(path.c_str());
  if (dir == nullptr) {
    if (errno == ENOENT || errno == ENODEV) return names;
    return absl::ErrnoToStatus(errno, "list a cgroup");
  }
  const absl::Cleanup closer = [dir] { closedir(dir); };
  while (const dirent* entry = readdir(dir)) {
    const absl::string_view name = entry->d_name;
    if (name == "." || name == ".." || !MatchesComponent(pattern, name)) continue;
    if (IsDirectory(absl::StrCat(path, "/", name))) names.emplace_back(name);
  }
  return names;
}

}  // namespace

bool MatchesComponent(absl::string_view pattern, absl::string_view name) {
  // Greedy with one point to come back to: linear in practice, never exponential.
  size_t p = 0, n = 0, star = absl::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

absl::StatusOr<std::vector<std::string>> ExpandCgroups(const HostFiles& files,
                                                       absl::string_view pattern, size_t limit) {
  const std::string root = files.CgroupRoot().path;
  std::vector<std::string> found = {""};
  for (absl::string_view component : absl::StrSplit(pattern, '/', absl::SkipEmpty())) {
    if (component == "." || component == "..") {
      return absl::InvalidArgumentError(absl::StrCat("cgroup pattern \"", absl::CHexEscape(pattern),
                                                     "\" leaves the cgroup root"));
    }
    std::vector<std::string> next;
    for (const std::string& parent : found) {
      absl::StatusOr<std::vector<std::string>> names =
          MatchingDirectories(absl::StrCat(root, parent), component);
      if (!names.ok()) return names.status();
      for (const std::string& name : *names) next.push_back(absl::StrCat(parent, "/", name));
      if (next.size() > limit) {
        return absl::ResourceExhaustedError(absl::StrCat("\"", absl::CHexEscape(pattern),
                                                         "\" matches more than ", limit,
                                                         " cgroups; name fewer of them"));
      }
    }
    found = std::move(next);
  }
  if (found.size() == 1 && found[0].empty()) found[0].push_back('/');
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace reclaim::agent
