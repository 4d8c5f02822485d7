// The paths that the build has put in.
#include "paths/paths.h"

namespace fairlead::paths {

std::filesystem::path sources() { return FAIRLEAD_SOURCES; }
std::filesystem::path test_data() { return sources() / "tests" / "data"; }
std::filesystem::path geo_files() { return FAIRLEAD_GEO_FILES; }

}  // namespace fairlead::paths
