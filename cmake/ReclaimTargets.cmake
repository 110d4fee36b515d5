# SPDX-License-Identifier: Apache-2.0
# How a target is declared in this repository; every folder uses these functions.
#
#   reclaim_library(NAME SRCS a.cc b.cc DEPS other absl::status)
#   reclaim_binary(NAME SRCS main.cc DEPS ...)
#   reclaim_test(NAME SRCS a_test.cc DEPS ... [LABELS threads apiserver])
#   reclaim_fuzzer(NAME SRCS a_fuzz.cc DEPS ... SEED file [DEFINES X=1])
#
# LABELS: `threads` = also run under ThreadSanitizer; `apiserver` = needs RECLAIM_TEST_KUBECONFIG.
# Tests may read fixtures below the macro RECLAIM_SOURCE_DIR. Fuzzers exist when RECLAIM_SANITIZE is `fuzzer`; the
# target `fuzzers` builds them all, into the folder fuzzers/ of the build, which has the list of them too. SEED is an input that the parser takes.

if(RECLAIM_SANITIZE STREQUAL "thread")
  add_library(tsan_absl_sync OBJECT "${CMAKE_CURRENT_LIST_DIR}/tsan_absl_sync.cc"
                                    "${CMAKE_CURRENT_LIST_DIR}/tsan_grpc.cc")
  target_link_libraries(tsan_absl_sync PUBLIC absl::synchronization absl::time ${CMAKE_DL_LIBS})
endif()

function(reclaim_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} Threads::Threads)
endfunction()

function(reclaim_binary name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} $<TARGET_NAME_IF_EXISTS:tsan_absl_sync>)
endfunction()

function(reclaim_test name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE "RECLAIM_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main
                        $<TARGET_NAME_IF_EXISTS:tsan_absl_sync>)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 120)
endfunction()

if(RECLAIM_SANITIZE STREQUAL "fuzzer")
  add_custom_target(fuzzers)
  file(WRITE "${CMAKE_BINARY_DIR}/fuzzers/list" "")
endif()

function(reclaim_fuzzer name)
  if(NOT RECLAIM_SANITIZE STREQUAL "fuzzer")
    return()
  endif()
  cmake_parse_arguments(ARG "" "SEED" "SRCS;DEPS;DEFINES" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SRCS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzzers")
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
  configure_file(${ARG_SEED} "${CMAKE_BINARY_DIR}/fuzzers/seeds/${name}/seed" COPYONLY)
  file(APPEND "${CMAKE_BINARY_DIR}/fuzzers/list" "${name}\n")
endfunction()
