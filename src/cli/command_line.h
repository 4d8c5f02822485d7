// The entry of the binary: arguments in, exit code out (0 done, 1 failed, 2 wrong usage). command_line.cpp is the home
// of CLI11. Runs on the main thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/options.h"

namespace fairlead::cli {

struct Terminal;

// `serve` runs `fairlead serve`, and so on; the client commands run here.
int run(int argc, const char* const* argv, const std::function<int(const ServeOptions&)>& serve,
        const std::function<int(const RouterOptions&)>& router,
        const std::function<int(const EmitterOptions&)>& emitter);

// The same with everything around it injected.
int run(const std::vector<std::string>& arguments, Terminal& terminal,
        const std::function<int(const ServeOptions&)>& serve,
        const std::function<int(const RouterOptions&)>& router = {},
        const std::function<int(const EmitterOptions&)>& emitter = {});

// `fairlead apply -f PATH...` against the server of that kubeconfig; what `serve --apply` does at start.
int apply_paths(const std::vector<std::string>& paths, const std::filesystem::path& kubeconfig);

}  // namespace fairlead::cli
