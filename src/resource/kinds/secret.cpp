// Secret: its texts, rules, admission and table. Pure; described once at start, asked by every write.
#include "resource/kinds/secret.h"

#include <fmt/core.h>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

bool is_data_key(std::string_view key) {
    if (key.empty() || key.size() > 253 || key == "." || key.starts_with("..")) return false;
    return std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    });
}

void check_data(const json::Object& secret, const json::Object*, Violations& violations) {
    const auto* data = object_of(secret, "data");
    if (data == nullptr) return;
    std::size_t total = 0;
    for (const auto& [name, value] : *data) {
        const std::string key(name.data(), name.size());
        const auto field = fmt::format("data[{}]", key);
        if (!is_data_key(key)) {
            violations.invalid(field, text_value(key),
                               "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
                               "'key.name', or 'KEY_NAME', or 'key-name', regex used for validation is "
                               "'[-._a-zA-Z0-9]+')");
        }
        const auto bytes = from_base64(text(value));
        // The value itself stays out of the message: it is a secret, and messages reach logs.
        if (!bytes) violations.invalid(field, text_value("<redacted>"), "must be base64");
        total += bytes ? bytes->size() : 0;
    }
    if (total > max_secret_bytes) {
        violations.invalid("data", text_value("<redacted>"),
                           fmt::format("{} bytes are more than the limit of {}", total, max_secret_bytes));
    }
}

// Types that promise their readers certain keys.
void check_type(const json::Object& secret, const json::Object*, Violations& violations) {
    const auto* data = object_of(secret, "data");
    const auto holds = [&](std::string_view key) { return data != nullptr && has(*data, key); };
    const auto require = [&](std::string_view key) {
        if (!holds(key)) violations.required(fmt::format("data[{}]", key));
    };
    const auto type = text_of(secret, "type");
    if (type == "kubernetes.io/tls") {
        require("tls.crt");
        require("tls.key");
    } else if (type == "kubernetes.io/ssh-auth") {
        require("ssh-privatekey");
    } else if (type == "kubernetes.io/dockerconfigjson") {
        require(".dockerconfigjson");
    } else if (type == "kubernetes.io/basic-auth" && !holds("username") && !holds("password")) {
        violations.required("data[username]", "a secret of this type holds username, password, or both");
    }
}

void check_immutable(const json::Object& secret, const json::Object* old, Violations& violations) {
    if (old == nullptr || !old->contains("immutable") || old->at("immutable") != json::Value(true)) return;
    if (!has(secret, "immutable") || secret.at("immutable") != json::Value(true)) {
        violations.forbidden("immutable", "field is immutable when `immutable` is set");
    }
    const auto* before = old->if_contains("data");
    const auto* after = secret.if_contains("data");
    const json::Value none(nullptr);
    if (!json::equal(before != nullptr ? *before : none, after != nullptr ? *after : none)) {
        violations.forbidden("data", "field is immutable when `immutable` is set");
    }
}

// stringData is a way to write, never to read: it is encoded into data and dropped.
void admit_secret(json::Value& object, const json::Value*, Violations&) {
    auto* secret = object.if_object();
    if (secret == nullptr) return;
    const auto* plain = object_of(*secret, "stringData");
    if (plain == nullptr) return;
    json::Object encoded;
    for (const auto& [name, value] : *plain) {
        if (!value.is_string()) return;  // validation will name the field
        encoded[name] = text_value(base64(text(value)));
    }
    auto& data = (*secret)["data"];
    if (data.is_null()) data = json::Object{};
    if (!data.is_object()) return;
    for (auto& [name, value] : encoded) data.as_object()[name] = std::move(value);
    secret->erase("stringData");
}

}  // namespace

void Secret::describe(Fields<Secret>& f) {
    f.name("Secret").doc("Small confidential data that other objects refer to by name.").keep_unknown();
    f.field("metadata", &Secret::metadata, "Name, labels and the server's bookkeeping.");
    f.field("data", &Secret::data, "The content: each value is base64. Keys are letters, digits, '-', '_' and '.'.");
    f.field(
        "stringData", &Secret::string_data,
        "Plain text to be stored: it is encoded into data, wins over the same key there, and is never shown again.");
    f.field("type", &Secret::type, "What the content is for; some types require certain keys.")
        .default_value("Opaque")
        .immutable();
    f.field("immutable", &Secret::immutable, "If true, the content can never change again; only deletion remains.");
    f.rule(check_data).rule(check_type).rule(check_immutable);
}

Kind secret_kind() {
    Kind kind;
    kind.version = "v1";
    kind.name = "Secret";
    kind.plural = "secrets";
    kind.singular = "secret";
    kind.status_subresource = false;
    kind.built_in = true;
    kind.schema = object_schema<Secret>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(), path_column("Type", "type", "What the content is for."),
                    count_column("Data", "data", "How many keys it holds."), age_column()};
    kind.selectable_fields = {"type"};
    kind.admit = admit_secret;
    return kind;
}

}  // namespace fairlead::resource
