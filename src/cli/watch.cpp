// `fairlead watch`: one line per event, for people and for scripts (-o json gives the events as the server sends them).
#include <fmt/core.h>

#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/session.h"

namespace fairlead::cli {
namespace {

Style style_of_event(std::string_view type) {
    if (type == "ADDED") return Style::green;
    if (type == "DELETED") return Style::red;
    return Style::yellow;
}

void show_event(const WatchOptions& options, const Target& target, Terminal& terminal, const json::Value& event) {
    if (options.json) {
        terminal.out << json::serialize(event) << '\n';
    } else {
        const auto type = json::string_at(event, "type");
        const auto* object = json::find(event, "object");
        const auto space = printable(json::string_at(*object, "metadata.namespace"));
        const auto padded = fmt::format("{:<8}", printable(type));
        terminal.out << rfc3339(terminal.clock.now()) << "  " << terminal.styled(padded, style_of_event(type)) << "  "
                     << target.type.object_name(printable(json::string_at(*object, "metadata.name")));
        if (!space.empty()) terminal.out << "  namespace=" << space;
        terminal.out << "  revision=" << printable(revision_of(*object)) << '\n';
    }
    terminal.out.flush();
}

}  // namespace

int run_watch(const WatchOptions& options, Session& session) {
    auto targets = resolve_targets(options.selection.arguments, session);
    if (!targets) return report(session, targets.error());
    if (targets->size() != 1) return wrong_usage(session, "watch follows one type at a time");
    const auto& target = targets->front();
    if (target.names.size() > 1) return wrong_usage(session, "watch follows one name, or all of a type");
    Selection selection = options.selection;
    if (!target.names.empty()) selection.fields = "metadata.name=" + target.names.front();
    FollowOptions following;
    following.path = target.type.path(space_of(session, target.type, selection.all_namespaces));
    following.query = selector_query(selection);
    std::int64_t seen = -1;
    const auto show = [&](const json::Value& event) {
        seen = std::max(seen, parse_int(revision_of(*json::find(event, "object"))).value_or(0));
        show_event(options, target, session.terminal, event);
        return session.terminal.out.good();  // false when nobody reads any more (`watch routes | head`)
    };
    // What exists is shown as ADDED, as a watch without a revision would; after a gap only what is newer.
    const auto show_list = [&](const json::Value& list) {
        const auto before = seen;
        if (const auto* items = json::find(list, "items"); items != nullptr && items->is_array()) {
            for (const auto& item : items->get_array()) {
                if (parse_int(revision_of(item)).value_or(INT64_MAX) <= before) continue;
                show(json::Object{{"type", before < 0 ? "ADDED" : "MODIFIED"}, {"object", item}});
            }
        }
        seen = std::max(seen, parse_int(revision_of(list)).value_or(0));
        return true;
    };
    auto done = follow(session.api, following, {show, show_list});
    return done ? 0 : report(session, done.error());
}

}  // namespace fairlead::cli
