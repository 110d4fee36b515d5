// SPDX-License-Identifier: Apache-2.0
#include "kube/json.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace reclaim::kube {

absl::StatusOr<Json> ParseJson(absl::string_view text, absl::string_view what) {
  // The parser's own error text quotes the input; a position is enough and leaks nothing.
  class PositionOfError : public nlohmann::json_sax<Json> {
   public:
    explicit PositionOfError(size_t& position) : position_(position) {}
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(size_t) override { return true; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(size_t position, const std::string&,
                     const nlohmann::detail::exception&) override {
      position_ = position;
      return false;
    }

   private:
    size_t& position_;
  };
  const char* begin = text.data();
  const char* end = begin + text.size();
  Json value = Json::parse(begin, end, nullptr, /*allow_exceptions=*/false);
  if (!value.is_discarded()) return value;
  size_t position = 0;
  PositionOfError finder(position);
  Json::sax_parse(begin, end, &finder);
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": not valid JSON at byte ", position, " of ", text.size()));
}

std::string DumpJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json* Find(const Json& object, std::initializer_list<absl::string_view> path) {
  const Json* at = &object;
  for (absl::string_view key : path) {
    if (!at->is_object()) return nullptr;
    auto it = at->find(std::string(key));
    if (it == at->end()) return nullptr;
    at = &*it;
  }
  return at;
}

std::string StringAt(const Json& object, std::initializer_list<absl::string_view> path,
                     absl::string_view fallback) {
  const Json* found = Find(object, path);
  if (found == nullptr || !found->is_string()) return std::string(fallback);
  return found->get<std::string>();
}

int64_t IntAt(const Json& object, std::initializer_list<absl::string_view> path, int64_t fallback) {
  const Json* found = Find(object, path);
  if (found == nullptr || !found->is_number_integer()) return fallback;
  return found->get<int64_t>();
}

std::string NameOf(const Json& object) { return StringAt(object, {"metadata", "name"}); }
std::string NamespaceOf(const Json& object) { return StringAt(object, {"metadata", "namespace"}); }
std::string UidOf(const Json& object) { return StringAt(object, {"metadata", "uid"}); }
std::string ResourceVersionOf(const Json& object) {
  return StringAt(object, {"metadata", "resourceVersion"});
}

std::string KeyOf(const Json& object) { return MakeKey(NamespaceOf(object), NameOf(object)); }

std::string MakeKey(absl::string_view name_space, absl::string_view name) {
  return name_space.empty() ? std::string(name) : absl::StrCat(name_space, "/", name);
}

}  // namespace reclaim::kube
