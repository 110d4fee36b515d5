// SPDX-License-Identifier: Apache-2.0
//
// protobuf's map_field.h as Debian's libprotobuf was compiled, for the build under ThreadSanitizer.
//
// Under the sanitizer the real header gives MapFieldBase two more members, and the library, which
// is compiled without, then looks for the others in the wrong place: reflection on a map crashes.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include_next <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
