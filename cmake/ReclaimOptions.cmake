# SPDX-License-Identifier: Apache-2.0
# Compiler flags that hold for every target, and the one build option: RECLAIM_SANITIZE.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(RECLAIM_SANITIZE "" CACHE STRING
    "Sanitizer of this build: empty, 'address' (ASan + UBSan), 'thread', or 'fuzzer' (libFuzzer with 'address'; clang only)")
set_property(CACHE RECLAIM_SANITIZE PROPERTY STRINGS "" address thread fuzzer)

add_compile_options(-Wall -Wextra -Werror -fno-omit-frame-pointer)
# A build must not depend on where the checkout lies.
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")

if(RECLAIM_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
elseif(RECLAIM_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
  include_directories(BEFORE "${CMAKE_CURRENT_LIST_DIR}/tsan")  # stands in front of a header of protobuf
elseif(RECLAIM_SANITIZE STREQUAL "fuzzer")
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
elseif(NOT RECLAIM_SANITIZE STREQUAL "")
  message(FATAL_ERROR "RECLAIM_SANITIZE is '${RECLAIM_SANITIZE}'; it takes '', 'address', 'thread' or 'fuzzer'")
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(absl REQUIRED)
find_package(GTest REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)
pkg_check_modules(GRPCPP REQUIRED IMPORTED_TARGET grpc++)
pkg_check_modules(PROTOBUF REQUIRED IMPORTED_TARGET protobuf)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
find_program(PROTOC protoc REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
