// The client commands, one file each. All take plain options and a session, and return the exit code.
#pragma once

#include <functional>
#include <string>

#include "cli/options.h"

namespace fairlead::cli {

struct Session;
struct Terminal;

int run_apply(const ApplyOptions& options, Session& session);
int run_get(const GetOptions& options, Session& session);
int run_describe(const DescribeOptions& options, Session& session);
int run_delete(const DeleteOptions& options, Session& session);
int run_watch(const WatchOptions& options, Session& session);
int run_wait(const WaitOptions& options, Session& session);
// Prints the client's own version before the server is asked, so that it shows without one.
int show_client_version(const VersionOptions& options, Terminal& terminal);
int run_version(const VersionOptions& options, Session& session);

}  // namespace fairlead::cli
