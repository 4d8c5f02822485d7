// `fairlead version`: ours, and the server's if there is one.
#include <fmt/core.h>

#include <ostream>

#include "cli/commands.h"
#include "cli/session.h"

namespace fairlead::cli {

int show_client_version(const VersionOptions& options, Terminal& terminal) {
    if (options.json) {
        terminal.out << json::pretty(json::Object{{"clientVersion", FAIRLEAD_VERSION}}) << '\n';
    } else {
        terminal.out << "Client Version: " << FAIRLEAD_VERSION << '\n';
    }
    return 0;
}

int run_version(const VersionOptions& options, Session& session) {
    auto server = session.api.get("/version");
    if (!server) {
        show_client_version(options, session.terminal);
        return report(session, server.error());
    }
    if (options.json) {
        const json::Value both = json::Object{{"clientVersion", FAIRLEAD_VERSION}, {"serverVersion", *server}};
        session.terminal.out << json::pretty(both) << '\n';
    } else {
        show_client_version(options, session.terminal);
        session.terminal.out << "Server Version: " << printable(json::string_at(*server, "gitVersion")) << '\n';
    }
    return 0;
}

}  // namespace fairlead::cli
