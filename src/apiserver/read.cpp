// GET, LIST, and where a WATCH begins: which revision is read, and how a list becomes pages of one snapshot.
#include <fmt/core.h>

#include <condition_variable>
#include <mutex>

#include "apiserver/continue_token.h"
#include "apiserver/list.h"
#include "apiserver/rest.h"
#include "base/text.h"

namespace fairlead::apiserver {

namespace {

constexpr std::chrono::milliseconds future_poll{20};
// Each holds a worker: more of them would keep others waiting.
constexpr int max_future_waits = 8;

constexpr std::string_view too_large_for_yaml = "the list is too large for YAML: ask for pages with limit, or for JSON";

constexpr std::string_view continue_expired =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list.";

Outcome<store::Revision> parse_revision(std::string_view text) {
    const auto number = parse_int(text);
    if (!number || *number < 0) {
        return refuse(bad_request(fmt::format("invalid resourceVersion \"{}\": must be a whole number", text)));
    }
    return static_cast<store::Revision>(*number);
}

// ValidateListOptions of kube-apiserver, watch-lists included.
Outcome<void> check_list_options(const QueryOptions& options, bool watch) {
    resource::FieldErrors errors;
    const auto forbid = [&](std::string field, std::string why) {
        errors.push_back({resource::Cause::forbidden, std::move(field), "Forbidden: " + why});
    };
    const auto& match = options.resource_version_match;
    if (options.send_initial_events) {
        if (!watch) forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
        if (watch && match != "NotOlderThan") {
            forbid("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
    } else if (!match.empty()) {
        if (watch) {
            forbid("resourceVersionMatch",
                   "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
        } else if (options.resource_version.empty()) {
            forbid("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
    }
    if (!match.empty()) {
        if (!options.continue_token.empty()) {
            forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
        }
        if (match != "Exact" && match != "NotOlderThan") {
            errors.push_back(
                {resource::Cause::not_supported, "resourceVersionMatch",
                 fmt::format("Unsupported value: \"{}\": supported values: \"Exact\", \"NotOlderThan\", \"\"", match)});
        }
        if (match == "Exact" && options.resource_version == "0") {
            forbid("resourceVersionMatch", "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
    }
    if (!errors.empty()) return refuse(invalid_options("ListOptions", errors));
    return {};
}

std::uint64_t count_from(const store::Snapshot& snapshot, std::string_view prefix, std::string_view from) {
    std::uint64_t count = 0;
    snapshot.scan(prefix, from, [&](const store::ObjectRef&) { return ++count, true; });
    return count;
}

}  // namespace

Outcome<void> Rest::wait_for(Revision revision) const {
    if (store_.revision() >= revision) return {};
    const auto too_large = [&] { return refuse(resource_version_too_large(revision, store_.revision())); };
    const auto waits = future_waits_.fetch_add(1);
    const std::shared_ptr<void> counted(nullptr, [this](void*) { future_waits_.fetch_sub(1); });
    if (waits >= max_future_waits) return too_large();
    // Revisions are one counter for all tables, and the store announces news per table only: so this looks now and
    // then. It is a worker's thread that waits, and only for clients that come from another server or from the future.
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    for (std::chrono::milliseconds waited{0}; waited < options_.future_wait; waited += future_poll) {
        never.wait_for(lock, std::min(future_poll, options_.future_wait));
        if (store_.revision() >= revision) return {};
    }
    return too_large();
}

Reply Rest::get(const Target& target, const QueryOptions& options) {
    if (!options.resource_version.empty()) {
        const auto revision = parse_revision(options.resource_version);
        if (!revision) return reply_of(revision.error());
        if (auto reached = wait_for(*revision); !reached) return reply_of(reached.error());
    }
    const auto found = existing(target);
    if (!found) return reply_of(found.error());
    Reply reply;
    reply.body = (*found)->value();
    return reply;
}

Outcome<store::Snapshot> Rest::snapshot_for(const Kind& kind, const QueryOptions& options) const {
    std::optional<Revision> exactly;
    if (!options.resource_version.empty()) {
        const auto revision = parse_revision(options.resource_version);
        if (!revision) return refuse(revision.error());
        if (auto reached = wait_for(*revision); !reached) return refuse(reached.error());
        if (options.resource_version_match == "Exact") exactly = *revision;
    }
    auto snapshot = store_.snapshot(kind.table(), exactly);
    if (snapshot) return std::move(*snapshot);
    if (snapshot.error().code == Errc::compacted) {
        return refuse(expired("The resourceVersion for the provided list is too old."));
    }
    return refuse(from_error(snapshot.error()));
}

Outcome<store::Snapshot> Rest::snapshot_of_page(const Kind& kind, const QueryOptions& options,
                                                ContinueToken& token) const {
    if (!options.resource_version.empty() && options.resource_version != "0") {
        return refuse(bad_request("specifying resource version is not allowed when using continue"));
    }
    auto decoded = decode_continue(options.continue_token);
    if (!decoded) return refuse(bad_request("invalid continue token: " + decoded.error().message));
    token = std::move(*decoded);
    auto snapshot = store_.snapshot(kind.table(), token.revision);
    if (snapshot) return std::move(*snapshot);
    if (snapshot.error().code == Errc::compacted) {
        auto status = expired(std::string(continue_expired));
        status.continue_token = encode_continue({std::nullopt, token.start, std::nullopt});
        return refuse(std::move(status));
    }
    if (snapshot.error().code == Errc::future) {
        return refuse(resource_version_too_large(token.revision.value_or(0), store_.revision()));
    }
    return refuse(from_error(snapshot.error()));
}

Outcome<Reply> Rest::list_objects(const Target& target, const QueryOptions& options, const Form& form) {
    const auto& kind = *target.kind;
    if (auto checked = check_list_options(options, false); !checked) return refuse(checked.error());
    const auto filter = Filter::make(kind, target.namespace_, "", options);
    if (!filter) return refuse(filter.error());
    ContinueToken token;
    const bool first_page = options.continue_token.empty();
    const auto snapshot = first_page ? snapshot_for(kind, options) : snapshot_of_page(kind, options, token);
    if (!snapshot) return refuse(snapshot.error());

    // A list "at any revision" is served whole, as the real server's cache does.
    const bool whole = first_page && options.resource_version == "0";
    const auto limit = whole ? 0 : std::max<std::int64_t>(0, options.limit.value_or(0));
    const ListWriter writer(kind, form, clock_.now());
    std::string items;
    std::int64_t count = 0;
    std::string next;    // where the next page begins, if there is one
    std::string resume;  // where the stream of a large list goes on
    bool more = false;
    std::optional<Status> problem;
    const auto visit = [&](const store::ObjectRef& object) {
        if (!filter->matches(*object)) return true;
        if (limit > 0 && count == limit) return more = true, false;
        if (resume.empty()) {
            if (count > 0) items += ',';
            if (auto added = writer.add(*object, items); !added) return problem = added.error(), false;
            if (items.size() >= options_.stream_lists_from) resume = std::string(object->name()) + '\0';
        }
        if (++count == limit) next = std::string(object->name()) + '\0';
        // The rest of a large page is only counted here.
        return resume.empty() || limit > 0;
    };
    if (filter->only()) {
        if (const auto object = snapshot->get(*filter->only()); object && *filter->only() >= token.start) visit(object);
        resume.clear();
    } else {
        snapshot->scan(filter->prefix(), token.start, visit);
    }
    if (problem) return refuse(*problem);
    if (!resume.empty() && form.yaml) return refuse(request_too_large(std::string(too_large_for_yaml)));

    std::string next_token;
    std::optional<std::uint64_t> remaining;
    if (more) {
        const auto given = static_cast<std::uint64_t>(count);
        const bool counted = token.remaining && token.revision && *token.remaining > given;
        if (filter->selects_all()) {
            remaining = counted ? *token.remaining - given : count_from(*snapshot, filter->prefix(), next);
        }
        next_token = encode_continue({snapshot->revision(), next, remaining});
    }
    Reply reply;
    reply.content = Reply::Content::list;
    auto text = writer.opening(snapshot->revision(), next_token, remaining);
    text.reserve(text.size() + items.size() + ListWriter::closing.size());
    text += items;
    if (resume.empty()) {
        reply.body = std::move(text.append(ListWriter::closing));
    } else {
        reply.stream = std::make_unique<ListStream>(
            ListPlan{writer, *filter, *snapshot, std::move(text), std::move(resume), more ? next : std::string()});
    }
    return reply;
}

Outcome<WatchPlan> Rest::plan_watch(const Target& target, const QueryOptions& options, const Form& form) {
    const auto& kind = *target.kind;
    if (auto checked = check_list_options(options, true); !checked) return refuse(checked.error());
    auto filter = Filter::make(kind, target.namespace_, target.name, options);
    if (!filter) return refuse(filter.error());
    WatchPlan plan;
    plan.kind = &kind;
    plan.filter = std::move(*filter);
    plan.form = form;
    plan.bookmarks = options.allow_watch_bookmarks;
    if (options.timeout_seconds && *options.timeout_seconds > 0)
        plan.timeout = std::chrono::seconds(*options.timeout_seconds);
    Revision revision = 0;
    if (!options.resource_version.empty()) {
        const auto parsed = parse_revision(options.resource_version);
        if (!parsed) return refuse(parsed.error());
        revision = *parsed;
    }
    plan.initial_events = options.send_initial_events.value_or(revision == 0);
    if (!plan.initial_events) {
        plan.after = revision == 0 ? store_.revision() : revision;
        return plan;
    }
    if (auto reached = wait_for(revision); !reached) return refuse(reached.error());
    auto snapshot = store_.snapshot(kind.table());
    if (!snapshot) return refuse(from_error(snapshot.error()));
    plan.after = snapshot->revision();
    plan.initial = std::move(*snapshot);
    plan.initial_events_end = options.send_initial_events.value_or(false) && plan.bookmarks;
    return plan;
}

}  // namespace fairlead::apiserver
