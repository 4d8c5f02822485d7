// `fairlead wait`: blocks until each selected object fulfils --for, or the time is over.
#include <fmt/core.h>

#include <ostream>

#include "cli/commands.h"
#include "cli/wait_for.h"
#include "cli/waiting.h"

namespace fairlead::cli {
namespace {

// False after a message.
bool wait_for_one(const ObjectName& subject, const WaitFor& wanted, MonotonicTime deadline, Session& session) {
    std::optional<json::Value> last;
    const auto holds = [&](const json::Value* object) {
        last = object == nullptr ? std::nullopt : std::optional(*object);
        return met(wanted, object);
    };
    auto done = wait_for_object(session, subject.type, subject.name_space, subject.name, deadline, holds);
    if (!done) {
        report(session, done.error());
        return false;
    }
    if (*done) {
        session.terminal.out << subject.type.object_name(subject.name) << " condition met\n";
        session.terminal.out.flush();
        return true;
    }
    session.terminal.err << fmt::format("error: timed out waiting for the condition on {}/{}: {}\n",
                                        subject.type.plural, subject.name,
                                        printable(current_state(wanted, last ? &*last : nullptr)));
    return false;
}

}  // namespace

Answer<bool> wait_for_object(Session& session, const ResourceType& type, const std::string& name_space,
                             const std::string& name, std::optional<MonotonicTime> deadline,
                             const std::function<bool(const json::Value* object)>& holds) {
    FollowOptions following;
    following.path = type.path(name_space);
    following.query = {{"fieldSelector", "metadata.name=" + name}};
    following.deadline = deadline;
    const auto on_list = [&](const json::Value& list) {
        const auto* items = json::find(list, "items");
        const bool there = items != nullptr && items->is_array() && !items->get_array().empty();
        return !holds(there ? &items->get_array().front() : nullptr);
    };
    const auto on_event = [&](const json::Value& event) {
        const bool gone = json::string_at(event, "type") == "DELETED";
        return !holds(gone ? nullptr : json::find(event, "object"));
    };
    return follow(session.api, following, {on_event, on_list});
}

int run_wait(const WaitOptions& options, Session& session) {
    const auto wanted = parse_wait_for(options.condition);
    if (!wanted) return wrong_usage(session, wanted.error().text());
    const auto subjects = name_all(options.selection, session);
    if (!subjects) return report(session, subjects.error());
    if (wanted->kind != WaitFor::Kind::deletion && gives_names(options.selection)) {
        // A name that is not there is a mistake, not something to wait for.
        for (const auto& subject : *subjects) {
            auto there = session.api.get(subject.type.path(subject.name_space, subject.name));
            if (!there) return report(session, there.error());
        }
    }
    if (subjects->empty()) {
        if (wanted->kind == WaitFor::Kind::deletion) return 0;
        session.terminal.err << "error: no matching resources found\n";
        return 1;
    }
    const auto deadline = session.terminal.clock.monotonic() + options.timeout;
    int failed = 0;
    for (const auto& subject : *subjects) failed += wait_for_one(subject, *wanted, deadline, session) ? 0 : 1;
    return failed == 0 ? 0 : 1;
}

}  // namespace fairlead::cli
