// Where tests find their files. Apart from the tests, so that only this depends on where the project lies and a second
// clone need not compile the rest anew.
#pragma once

#include <filesystem>

namespace fairlead::paths {

std::filesystem::path sources();    // the project
std::filesystem::path test_data();  // tests/data
std::filesystem::path geo_files();  // places in MMDB files, made by the build

}  // namespace fairlead::paths
