# fairlead_allocator(TARGET): the server allocates millions of small values that live for very different times, on many
# threads; glibc's malloc took 45% of a DNS change's way, and fragments (docs/benchmarks.md). Sanitizers bring their own.
function(fairlead_allocator target)
  if(NOT FAIRLEAD_SANITIZE)
    target_link_libraries(${target} PRIVATE -Wl,--no-as-needed PkgConfig::JEMALLOC -Wl,--as-needed)
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/allocator.cpp)
  endif()
endfunction()

# fairlead_join(TARGET FILES...): where FAIRLEAD_UNITY is on (builds that nobody edits against), files that do not get in
# each other's way are compiled as one. cmake/unity.py says which.
set(FAIRLEAD_UNITY OFF CACHE BOOL "Compile several files as one")
function(fairlead_join target)
  if(NOT FAIRLEAD_UNITY)
    return()
  endif()
  execute_process(COMMAND python3 ${CMAKE_SOURCE_DIR}/cmake/unity.py ${ARGN} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${lines}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^(g[0-9]+) (.*)$" matched "${line}")
    set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # Only in a main file does GCC trust that a struct with members of an unnamed namespace is nobody else's.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# fairlead_precompiled(TARGET): the light std set, compiled once for all: of its own each target would cost seconds and
# 70 MB.
function(fairlead_precompiled target)
  if(NOT TARGET fairlead_pch)
    file(WRITE ${CMAKE_BINARY_DIR}/pch.cpp "")
    add_library(fairlead_pch OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
    target_link_libraries(fairlead_pch PRIVATE fmt::fmt)
    target_include_directories(fairlead_pch PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_precompile_headers(fairlead_pch PRIVATE ${CMAKE_SOURCE_DIR}/src/base/pch.h)
  endif()
  target_precompile_headers(${target} REUSE_FROM fairlead_pch)
endfunction()

# fairlead_layer(NAME [LINKS layer...] [PUBLIC library...] [PRIVATE library...])
# One folder under src/ is one static library. LINKS names the layers it may know; PUBLIC and PRIVATE the
# outside libraries that have their home here. Sources are globbed, so adding a file is adding a file.
function(fairlead_layer name)
  cmake_parse_arguments(ARG "" "" "LINKS;PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(fairlead_${name} STATIC ${sources})
  target_include_directories(fairlead_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ARG_LINKS PREPEND fairlead_)
  target_link_libraries(fairlead_${name} PUBLIC ${ARG_LINKS} ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  fairlead_precompiled(fairlead_${name})
  fairlead_join(fairlead_${name} ${sources})
endfunction()

# fairlead_test(NAME [LINKS layer...] [LIBRARIES library...])
# One folder under tests/ is one GoogleTest program, which ctest runs as one test: a process per case would cost more than the cases.
function(fairlead_test name)
  cmake_parse_arguments(ARG "" "" "LINKS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(${name}_tests ${sources})
  target_include_directories(${name}_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  list(TRANSFORM ARG_LINKS PREPEND fairlead_)
  target_link_libraries(${name}_tests PRIVATE fairlead_paths ${ARG_LINKS} ${ARG_LIBRARIES} GTest::gtest GTest::gmock GTest::gtest_main)
  fairlead_precompiled(${name}_tests)
  fairlead_join(${name}_tests ${sources})
  add_test(NAME ${name}_tests COMMAND ${name}_tests --gtest_brief=1)
  set_tests_properties(${name}_tests PROPERTIES TIMEOUT 600 LABELS unit)
endfunction()
