// `fairlead zone export`: a zone as text, line by line as the server sends it.
#include <fmt/core.h>

#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/session.h"

namespace fairlead::cli {
namespace {

// As the server ends a text that is whole.
constexpr std::string_view end_of_zone = "; end of zone ";

struct Export {
    Answer<void> answer;
    bool whole = false;
};

Export export_zone(const std::string& domain, Session& session) {
    Export result;
    result.answer = session.api.text("/dns/zones/" + percent_encode(domain) + "/export", [&](std::string_view line) {
        std::vector<std::string> columns;
        for (const auto column : split(line, '\t')) columns.push_back(printable(column));
        session.terminal.out << join(columns, "\t") << '\n';
        result.whole = line.starts_with(end_of_zone);
        return true;
    });
    return result;
}

Answer<std::string> domain_of(const std::string& name_space, const std::string& name, Session& session) {
    const auto types = session.discovery.resolve("managedzones");
    if (!types) return tl::unexpected(types.error());
    const auto zone = session.api.get(types->front().path(name_space, name));
    if (!zone) return tl::unexpected(zone.error());
    return std::string(json::string_at(*zone, "spec.domainName"));
}

}  // namespace

// A domain name first, for most people have one in mind; a name that is no zone may still be that of a ManagedZone.
int run_zone_export(const ZoneExportOptions& options, Session& session) {
    const auto slash = options.zone.find('/');
    Export done;
    if (slash == std::string::npos) done = export_zone(options.zone, session);
    if (slash != std::string::npos || (!done.answer && done.answer.error().status == 404)) {
        const auto name_space = slash == std::string::npos ? session.name_space : options.zone.substr(0, slash);
        const auto domain = domain_of(name_space, options.zone.substr(slash + 1), session);
        if (!domain) {
            // Nothing by either name: that there is no such zone, and which there are, says more.
            const bool tried = slash == std::string::npos && domain.error().status == 404;
            return report(session, tried ? done.answer.error() : domain.error());
        }
        done = export_zone(*domain, session);
    }
    if (!done.answer) return report(session, done.answer.error());
    if (done.whole) return 0;
    session.terminal.err << "error: the server ended in the middle of the zone\n";
    return 1;
}

}  // namespace fairlead::cli
