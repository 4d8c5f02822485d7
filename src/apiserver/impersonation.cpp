#include "apiserver/impersonation.h"

#include "base/text.h"

namespace fairlead::apiserver {

namespace {

constexpr std::string_view extra_prefix = "impersonate-extra-";
constexpr std::string_view account_prefix = "system:serviceaccount:";
constexpr std::size_t max_groups = 256;  // each costs a decision; header limits allow thousands

struct Account {
    std::string ns, name;
};

std::optional<Account> account_of(std::string_view user) {
    if (!user.starts_with(account_prefix)) return std::nullopt;
    const auto parts = split(user.substr(account_prefix.size()), ':');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) return std::nullopt;
    return Account{std::string(parts[0]), std::string(parts[1])};
}

}  // namespace

Outcome<std::optional<User>> requested_user(const net::Headers& headers) {
    User user;
    bool more = false;
    std::size_t count = 0;
    for (const auto& [header, value] : headers.items()) {
        const auto name = lower(header);
        if (!name.starts_with("impersonate-")) continue;
        if (++count > max_groups) return refuse(bad_request("too many Impersonate headers: the limit is 256"));
        if (name == "impersonate-user") {
            if (user.name.empty()) user.name = value;
        } else if (name == "impersonate-group") {
            user.groups.push_back(value);
            more = true;
        } else if (name == "impersonate-uid") {
            user.uid = value;
            more = true;
        } else if (name.starts_with(extra_prefix)) {
            const auto key = percent_decode(std::string_view(name).substr(extra_prefix.size()), false);
            user.extra[key ? *key : name.substr(extra_prefix.size())].push_back(value);
            more = true;
        }
    }
    if (!user.name.empty()) return user;
    if (more) return refuse(internal_error("requested groups, uid or extra without impersonating a user"));
    return std::nullopt;
}

std::vector<Attributes> impersonation_wishes(const User& user) {
    std::vector<Attributes> wishes;
    if (const auto account = account_of(user.name)) {
        wishes.push_back(
            {.verb = "impersonate", .resource = "serviceaccounts", .namespace_ = account->ns, .name = account->name});
    } else {
        wishes.push_back({.verb = "impersonate", .resource = "users", .name = user.name});
    }
    for (const auto& group : user.groups) {
        wishes.push_back({.verb = "impersonate", .resource = "groups", .name = group});
    }
    if (!user.uid.empty()) {
        wishes.push_back(
            {.verb = "impersonate", .group = "authentication.k8s.io", .resource = "uids", .name = user.uid});
    }
    for (const auto& [key, values] : user.extra) {
        for (const auto& value : values) {
            wishes.push_back({.verb = "impersonate",
                              .group = "authentication.k8s.io",
                              .resource = "userextras",
                              .subresource = key,
                              .name = value});
        }
    }
    return wishes;
}

void complete_groups(User& user) {
    const auto add = [&user](std::string group) {
        if (!user.in_group(group)) user.groups.push_back(std::move(group));
    };
    if (const auto account = account_of(user.name)) {
        add("system:serviceaccounts");
        add("system:serviceaccounts:" + account->ns);
    }
    add(user.name == "system:anonymous" ? "system:unauthenticated" : std::string(authenticated_group));
}

}  // namespace fairlead::apiserver
