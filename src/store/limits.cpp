#include "store/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace fairlead::store {
namespace {

Result<void> check_key(const Key& key) {
    if (key.table.empty() || key.table.size() > max_table_bytes) {
        return fail(Errc::invalid, key.text(),
                    fmt::format("a table name of {} bytes is outside 1..{}", key.table.size(), max_table_bytes));
    }
    if (key.name.empty() || key.name.size() > max_name_bytes) {
        return fail(Errc::invalid, key.text(),
                    fmt::format("a name of {} bytes is outside 1..{}", key.name.size(), max_name_bytes));
    }
    if (key.table.find('\0') != std::string::npos || key.name.find('\0') != std::string::npos) {
        return fail(Errc::invalid, key.text(), "a key must not contain a zero byte");
    }
    return {};
}

Result<void> check_value(const Op& op) {
    const Value& value = op.value;
    if (value.bytes.size() > max_value_bytes) {
        return fail(Errc::too_large, op.key.text(),
                    fmt::format("a value of {} bytes is over the limit of {}", value.bytes.size(), max_value_bytes));
    }
    if (value.revision_at != std::string::npos && value.revision_at > value.bytes.size()) {
        return fail(Errc::invalid, op.key.text(),
                    fmt::format("the revision cannot be inserted at {} of a value of {} bytes", value.revision_at,
                                value.bytes.size()));
    }
    return {};
}

// Two changes of one key in one commit would have no order between them: both carry the same revision.
Result<void> check_distinct(const std::vector<Op>& ops) {
    std::vector<const Key*> changed;
    for (const Op& op : ops) {
        if (op.type != Op::Type::check) changed.push_back(&op.key);
    }
    std::sort(changed.begin(), changed.end(), [](const Key* a, const Key* b) { return *a < *b; });
    const auto twice = std::adjacent_find(changed.begin(), changed.end(), [](auto* a, auto* b) { return *a == *b; });
    if (twice == changed.end()) return {};
    return fail(Errc::invalid, (*twice)->text(), "is changed twice in one commit");
}

}  // namespace

std::size_t commit_bytes(const std::vector<Op>& ops) {
    return std::accumulate(ops.begin(), ops.end(), std::size_t{0}, [](std::size_t sum, const Op& op) {
        return sum + op.key.table.size() + op.key.name.size() + op.value.bytes.size();
    });
}

Result<void> check_limits(const std::vector<Op>& ops) {
    if (ops.empty()) return fail(Errc::invalid, "a commit needs at least one op");
    if (ops.size() > max_ops) {
        return fail(Errc::too_large, fmt::format("a commit of {} ops is over the limit of {}", ops.size(), max_ops));
    }
    for (const Op& op : ops) {
        if (auto ok = check_key(op.key); !ok) return ok;
        if (auto ok = check_value(op); !ok) return ok;
    }
    if (const std::size_t bytes = commit_bytes(ops); bytes > max_commit_bytes) {
        return fail(Errc::too_large,
                    fmt::format("a commit of {} bytes is over the limit of {}", bytes, max_commit_bytes));
    }
    return ops.size() > 1 ? check_distinct(ops) : Result<void>{};
}

}  // namespace fairlead::store
