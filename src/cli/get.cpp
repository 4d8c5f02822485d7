// `fairlead get`: tables made by the server, or the objects themselves; with -w everything that changes afterwards.
#include <fmt/core.h>

#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/session.h"
#include "cli/table.h"
#include "json/yaml.h"

namespace fairlead::cli {
namespace {

bool is_table(Output output) { return output == Output::table || output == Output::wide; }

// A Table whatever the server sent.
json::Value as_table(json::Value answer, const Session& session) {
    if (json::string_at(answer, "kind") == "Table") return answer;
    return plain_table(answer, session.terminal.clock.now());
}

std::size_t row_count(const json::Value& table) {
    const auto* rows = json::find(table, "rows");
    return rows != nullptr && rows->is_array() ? rows->get_array().size() : 0;
}

void say_nothing_found(const Session& session, const Selection& selection, const std::vector<Target>& targets) {
    const bool in_namespace = !selection.all_namespaces && targets.front().type.namespaced;
    session.terminal.err << (in_namespace ? fmt::format("No resources found in {} namespace.\n", session.name_space)
                                          : std::string("No resources found\n"));
}

// The Table of one target: of the list, or of each name joined together.
Answer<json::Value> table_of(const Target& target, const GetOptions& options, Session& session, int& failed) {
    const auto space = space_of(session, target.type, options.selection.all_namespaces);
    if (target.names.empty()) {
        auto list = session.api.list(target.type.path(space), selector_query(options.selection), accept_table);
        if (!list) return list;
        return as_table(std::move(*list), session);
    }
    json::Value whole = json::Object{{"rows", json::Array()}};
    for (const auto& name : target.names) {
        auto one = session.api.get(target.type.path(space, name), accept_table);
        if (!one) {
            if (one.error().status == 0) return one;
            if (options.ignore_not_found && one.error().status == 404) continue;
            report(session, one.error());
            ++failed;
            continue;
        }
        json::Value table = as_table(std::move(*one), session);
        if (row_count(whole) == 0) {
            whole = std::move(table);
        } else if (auto* rows = json::find(table, "rows"); rows != nullptr && rows->is_array()) {
            auto& all = json::find(whole, "rows")->get_array();
            for (auto& row : rows->get_array()) all.push_back(std::move(row));
        }
    }
    return whole;
}

TableOptions table_options(const GetOptions& options, const Target& target, bool several) {
    TableOptions made;
    made.wide = options.output == Output::wide;
    made.namespaces = options.selection.all_namespaces && target.type.namespaced;
    made.headers = !options.no_headers;
    if (several) made.name_prefix = target.type.object_name("");
    return made;
}

int get_tables(const GetOptions& options, Session& session) {
    auto targets = resolve_targets(options.selection.arguments, session);
    if (!targets) return report(session, targets.error());
    bool any = false;
    int failed = 0;
    for (const auto& target : *targets) {
        auto table = table_of(target, options, session, failed);
        if (!table) return report(session, table.error());
        if (row_count(*table) == 0) continue;
        if (std::exchange(any, true)) session.terminal.out << '\n';
        TablePrinter(session.terminal, table_options(options, target, targets->size() > 1)).print(*table);
    }
    if (!any && failed == 0 && !options.ignore_not_found) {
        say_nothing_found(session, options.selection, *targets);
    }
    return failed == 0 ? 0 : 1;
}

void without_managed_fields(json::Value& object) { json::erase_at(object, "metadata.managedFields"); }

void print_value(const json::Value& value, Output output, Terminal& terminal) {
    if (output == Output::json) {
        terminal.out << json::pretty(value) << '\n';
    } else {
        terminal.out << json::to_yaml(value);
    }
}

int get_objects(const GetOptions& options, Session& session) {
    int failed = 0;
    auto found = fetch(options.selection, options.ignore_not_found, session, failed);
    if (!found) return report(session, found.error());
    if (options.output == Output::name) {
        for (const auto& item : *found) {
            session.terminal.out << item.type.object_name(json::string_at(item.object, "metadata.name")) << '\n';
        }
        return failed == 0 ? 0 : 1;
    }
    if (!options.show_managed_fields) {
        for (auto& item : *found) without_managed_fields(item.object);
    }
    const auto& arguments = options.selection.arguments;
    const bool one_name = arguments.size() == (arguments.front().find('/') == std::string::npos ? 2U : 1U);
    if (one_name && found->size() == 1) {
        print_value(found->front().object, options.output, session.terminal);
    } else if (!one_name) {
        json::Array items;
        for (auto& item : *found) items.push_back(std::move(item.object));
        const json::Value list = json::Object{{"apiVersion", "v1"},
                                              {"items", std::move(items)},
                                              {"kind", "List"},
                                              {"metadata", json::Object{{"resourceVersion", ""}}}};
        print_value(list, options.output, session.terminal);
    }
    return failed == 0 ? 0 : 1;
}

// Shows the state, then what changes. After a gap in the watch only what is newer than the last thing seen.
class Watcher {
public:
    Watcher(const GetOptions& options, Session& session, const Target& target)
        : options_(options),
          session_(session),
          target_(target),
          printer_(session.terminal, table_options(options, target, false)) {}

    bool on_list(const json::Value& list) {
        const auto revision = parse_int(revision_of(list)).value_or(0);
        json::Value state = is_table(options_.output) ? as_table(list, session_) : list;
        auto* entries = json::find(state, is_table(options_.output) ? "rows" : "items");
        if (entries != nullptr && entries->is_array()) {
            json::Array news;
            for (auto& entry : entries->get_array()) {
                const auto& object = is_table(options_.output) ? row_object(entry) : entry;
                if (parse_int(revision_of(object)).value_or(INT64_MAX) > seen_) news.push_back(std::move(entry));
            }
            *entries = std::move(news);
        }
        seen_ = std::max(seen_, revision);
        return show(state);
    }

    bool on_event(const json::Value& event) {
        const auto* object = json::find(event, "object");
        seen_ = std::max(seen_, parse_int(revision_of(*object)).value_or(0));
        if (is_table(options_.output)) return show(as_table(*object, session_));
        return show(json::Object{{"items", json::Array{*object}}});
    }

private:
    static const json::Value& row_object(const json::Value& row) {
        const auto* object = json::find(row, "object");
        return object == nullptr ? row : *object;
    }

    // False when nobody reads any more (`get -w | head`).
    bool show(const json::Value& state) {
        auto& out = session_.terminal.out;
        if (is_table(options_.output)) {
            printer_.print(state);
        } else if (const auto* items = json::find(state, "items"); items != nullptr && items->is_array()) {
            for (json::Value item : items->get_array()) {
                if (!options_.show_managed_fields) without_managed_fields(item);
                if (options_.output == Output::name) {
                    out << target_.type.object_name(json::string_at(item, "metadata.name")) << '\n';
                } else {
                    if (options_.output == Output::yaml) out << "---\n";
                    print_value(item, options_.output, session_.terminal);
                }
            }
        }
        out.flush();
        return out.good();
    }

    const GetOptions& options_;
    Session& session_;
    const Target& target_;
    TablePrinter printer_;
    std::int64_t seen_ = -1;
};

int get_and_watch(const GetOptions& options, Session& session) {
    auto targets = resolve_targets(options.selection.arguments, session);
    if (!targets) return report(session, targets.error());
    if (targets->size() != 1) return wrong_usage(session, "-w follows one type at a time");
    const auto& target = targets->front();
    if (target.names.size() > 1) return wrong_usage(session, "-w follows one name, or all of a type");
    const auto space = space_of(session, target.type, options.selection.all_namespaces);
    Selection selection = options.selection;
    if (!target.names.empty()) {
        auto there = session.api.get(target.type.path(space, target.names.front()));
        if (!there) return report(session, there.error());
        selection.fields = "metadata.name=" + target.names.front();
    }
    FollowOptions following;
    following.path = target.type.path(space);
    following.query = selector_query(selection);
    following.accept = is_table(options.output) ? accept_table : accept_json;
    Watcher watcher(options, session, target);
    const Follower follower{[&](const json::Value& event) { return watcher.on_event(event); },
                            [&](const json::Value& list) { return watcher.on_list(list); }};
    auto done = follow(session.api, following, follower);
    return done ? 0 : report(session, done.error());
}

}  // namespace

int run_get(const GetOptions& options, Session& session) {
    if (options.watch) return get_and_watch(options, session);
    return is_table(options.output) ? get_tables(options, session) : get_objects(options, session);
}

}  // namespace fairlead::cli
