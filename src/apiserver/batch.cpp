// Many objects of one kind written in few commits: what a bulk endpoint needs, where a commit per object would cost a
// flush each. Every object keeps the rules of the single verbs, and gets its own answer.
#include <set>

#include "apiserver/object_bytes.h"
#include "apiserver/rest.h"

namespace fairlead::apiserver {

namespace {

constexpr std::size_t max_ops = 256;            // of one commit; the store's writer serves others in between
constexpr std::size_t max_bytes = 1024 * 1024;  // likewise
constexpr int max_attempts = 16;                // each lost one means that somebody else's write succeeded

bool lost_race(const Error& error) {
    return error.code == Errc::conflict || error.code == Errc::already_exists || error.code == Errc::not_found;
}

}  // namespace

Outcome<Rest::Draft> Rest::draft_new(const Target& target, const BatchWrite& write, const QueryOptions& options) {
    const auto& kind = *target.kind;
    Draft draft;
    draft.reply.code = 201;
    json::Value object = *write.object;
    if (auto checked = check_identity(target, object); !checked) return refuse(checked.error());
    bool generated = false;
    if (auto named = name_and_stamp(target, object, generated); !named) return refuse(named.error());
    auto ns = namespace_check(kind, target.namespace_, target.name);
    if (!ns) return refuse(ns.error());
    const auto status = kind.status_subresource ? StatusOf::server : StatusOf::client;
    if (auto ok = admit(kind, object, nullptr, status, options, draft.reply.warnings); !ok) return refuse(ok.error());
    if (auto allowed = guarded(kind, object, {}, options); !allowed) return refuse(allowed.error());
    auto managed = resource::track_update(kind, nullptr, object, {}, writer_of(target, options));
    const auto owners = managed.empty() ? std::string() : resource::managed_fields_text(std::move(managed));
    draft.op = store::put(store_key(kind, target.namespace_, target.name), store::Expect::absent(),
                          stored_form(object, owners));
    draft.namespace_check = std::move(*ns);
    return draft;
}

Outcome<Rest::Draft> Rest::draft_change(const Target& target, const BatchWrite& write, const store::Object& current,
                                        const QueryOptions& options) {
    const auto& kind = *target.kind;
    const auto old = parse_object(current);
    if (!old) return refuse(old.error());
    Draft draft;
    const auto key = store_key(kind, target.namespace_, target.name);
    const auto expect = store::Expect::at(current.modified());
    if (write.applies && !write.applies(*old)) return refuse(not_found(kind, target.name));
    if (!write.object) {
        auto marked = mark_deleted(*old, {});
        if (!marked) {
            draft.op = store::remove(key, expect, last_state(current));
        } else if (!being_deleted(*old)) {
            draft.op = store::put(key, expect, stored_form(*marked));
        }
        return draft;
    }
    json::Value submitted = *old;
    if (const auto* spec = json::find(*write.object, "spec")) submitted.get_object()["spec"] = *spec;
    auto change = prepare_update(target, *old, std::move(submitted), options);
    if (!change) return refuse(change.error());
    if (change->unchanged) return draft;
    if (auto allowed = guarded(kind, change->object, {}, options); !allowed) return refuse(allowed.error());
    draft.op = store::put(key, expect, stored_form(change->object));
    return draft;
}

Outcome<Rest::Draft> Rest::draft_write(const Target& target, const BatchWrite& write, const QueryOptions& options) {
    const auto current = store_.get(store_key(*target.kind, target.namespace_, target.name));
    if (!current) return refuse(from_error(current.error()));
    if (*current) return draft_change(target, write, **current, options);
    if (!write.object) return refuse(not_found(*target.kind, target.name));
    return draft_new(target, write, options);
}

Reply Rest::write_alone(const Target& target, const BatchWrite& write, const QueryOptions& options) {
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        auto draft = draft_write(target, write, options);
        if (!draft) return reply_of(draft.error());
        if (!draft->op) return std::move(draft->reply);
        std::vector<store::Op> ops;
        ops.push_back(std::move(*draft->op));
        if (draft->namespace_check) ops.push_back(std::move(*draft->namespace_check));
        const auto committed = store_.commit_and_wait(std::move(ops));
        if (committed) return std::move(draft->reply);
        if (!lost_race(committed.error())) return reply_of(from_error(committed.error()));
    }
    return reply_of(modified_meanwhile(*target.kind, target.name));
}

std::vector<Reply> Rest::write_many(const Kind& kind, std::string_view ns, const std::vector<BatchWrite>& writes,
                                    const QueryOptions& options) {
    std::vector<Reply> replies(writes.size());
    const auto target_of = [&](std::size_t i) { return Target{&kind, std::string(ns), writes[i].name, ""}; };
    std::size_t next = 0;
    while (next < writes.size()) {
        std::vector<store::Op> ops;
        std::vector<std::size_t> owners;  // of the ops
        std::optional<store::Op> namespace_check;
        std::set<std::string_view> names;
        std::size_t bytes = 0;
        for (; next < writes.size() && ops.size() < max_ops && bytes < max_bytes; ++next) {
            // Twice the same: the second must see what the first made.
            if (!names.insert(writes[next].name).second) break;
            auto draft = draft_write(target_of(next), writes[next], options);
            if (!draft) {
                replies[next] = reply_of(draft.error());
                continue;
            }
            replies[next] = std::move(draft->reply);
            if (!draft->op) continue;
            bytes += draft->op->value.bytes.size();
            ops.push_back(std::move(*draft->op));
            owners.push_back(next);
            if (draft->namespace_check) namespace_check = std::move(draft->namespace_check);
        }
        if (ops.empty()) continue;
        if (namespace_check) ops.push_back(std::move(*namespace_check));
        const auto committed = store_.commit_and_wait(std::move(ops));
        if (committed) continue;
        // One that lost a race spoils the commit for all: each by itself then.
        for (const auto i : owners) {
            replies[i] = lost_race(committed.error()) ? write_alone(target_of(i), writes[i], options)
                                                      : reply_of(from_error(committed.error()));
        }
    }
    return replies;
}

}  // namespace fairlead::apiserver
