#include "plan/owner_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "plan/crypt.h"

namespace fairlead::plan {
namespace {

constexpr std::string_view heritage = "external-dns";
constexpr std::string_view label_prefix = "external-dns/";
constexpr std::string_view nonce_key = "txt-encryption-nonce";
constexpr std::size_t max_string_bytes = 255;  // RFC 1035 section 3.3: one character-string
// What a list of records may take of a text: Route 53 allows 4,000 characters, of which name (253), owner, labels and
// quotes take their part.
constexpr std::size_t max_list_bytes = 2'500;

bool reserved(std::string_view key) {
    return key == "owner" || key == "name" || key == "records" || key == nonce_key || key == "heritage";
}

bool plain_key(std::string_view key) { return !key.empty() && plain_value(key) && !reserved(key); }

bool entry_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.~/*@+").find(c) != std::string_view::npos;
}

void append_encoded(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (entry_byte(c)) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
}

std::string decoded(std::string_view text) {
    if (text.find('%') == std::string_view::npos) return std::string(text);
    auto plain = percent_decode(text, false);
    return plain ? std::move(*plain) : std::string(text);
}

// `common` are labels that the text has for all.
void append_entry(std::string& out, const OwnedRecord& record, const dns::Labels& common) {
    append_encoded(out, record.type);
    if (!record.set_identifier.empty()) {
        out += '/';
        append_encoded(out, record.set_identifier);
    }
    for (const auto& label : record.labels) {
        if (std::find(common.begin(), common.end(), label) != common.end()) continue;
        out += ';';
        append_encoded(out, label.key);
        out += ':';
        append_encoded(out, label.value);
    }
}

std::string list_text(const std::vector<OwnedRecord>& records, const dns::Labels& common) {
    std::string list;
    for (const auto& record : records) {
        if (!list.empty()) list += ' ';
        append_entry(list, record, common);
    }
    return list;
}

// Labels that all records have, with the same value, and that a text can hold as they are.
dns::Labels common_labels(std::span<const OwnedRecord> records) {
    std::vector<dns::Label> common;
    if (records.empty()) return {};
    for (const auto& label : records.front().labels) {
        const bool everywhere = std::all_of(records.begin(), records.end(), [&](const OwnedRecord& record) {
            return std::find(record.labels.begin(), record.labels.end(), label) != record.labels.end();
        });
        if (everywhere && plain_key(label.key) && plain_value(label.value)) common.push_back(label);
    }
    return dns::Labels::of(common);
}

// One character-string in quotes at the start of `rest`, its escapes resolved.
void take_quoted(std::string_view& rest, std::string& out) {
    rest.remove_prefix(1);
    while (!rest.empty() && rest.front() != '"') {
        char c = rest.front();
        rest.remove_prefix(1);
        if (c == '\\' && !rest.empty()) {
            const auto number = rest.size() >= 3 ? parse_int(rest.substr(0, 3)) : std::nullopt;
            if (number && rest.front() >= '0' && rest.front() <= '9' && *number < 256) {
                c = static_cast<char>(*number);
                rest.remove_prefix(3);
            } else {
                c = rest.front();
                rest.remove_prefix(1);
            }
        }
        out += c;
    }
    if (!rest.empty()) rest.remove_prefix(1);
}

}  // namespace

bool plain_value(std::string_view value) {
    return std::all_of(value.begin(), value.end(),
                       [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '"' && c != '=' && c != '\\'; });
}

std::string_view txt_bytes(std::string_view target, std::string& scratch) {
    target = trim(target);
    if (target.size() >= 2 && target.front() == '"' && target.back() == '"') {
        const auto inside = target.substr(1, target.size() - 2);
        // Two searches: find_first_of looks at each byte by a call.
        if (inside.find('"') == std::string_view::npos && inside.find('\\') == std::string_view::npos) return inside;
    } else if (target.find('"') == std::string_view::npos) {
        return target;
    }
    scratch.clear();
    while (!target.empty()) {
        if (target.front() == '"') {
            take_quoted(target, scratch);
        } else {
            const auto end = std::min(target.find_first_of(" \t\""), target.size());
            scratch += target.substr(0, end);
            target.remove_prefix(end);
        }
        target.remove_prefix(std::min(target.find_first_not_of(" \t"), target.size()));
    }
    return scratch;
}

std::string txt_target(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size() + 2);
    do {
        const auto piece = bytes.substr(0, max_string_bytes);
        bytes.remove_prefix(piece.size());
        if (!out.empty()) out += ' ';
        out += '"';
        out += piece;
        out += '"';
    } while (!bytes.empty());
    return out;
}

// As external-dns reads it: a token with not exactly one "=" says nothing, any other heritage makes it no such text.
bool read_owner_fields(std::string_view text, OwnerFields& out) {
    out.owner = out.name = out.records = {};
    out.listed = false;
    out.labels.clear();
    bool named = false;
    bool found = false;
    while (!text.empty()) {
        const auto comma = std::min(text.find(','), text.size());
        const auto token = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        const auto equals = token.find('=');
        if (equals == std::string_view::npos || token.find('=', equals + 1) != std::string_view::npos) continue;
        auto key = token.substr(0, equals);
        const auto value = token.substr(equals + 1);
        if (key == "heritage") {
            if (value != heritage) return false;
            found = true;
            continue;
        }
        if (!key.starts_with(label_prefix)) continue;
        key.remove_prefix(label_prefix.size());
        if (key == "owner") {
            out.owner = value;
        } else if (key == "name") {
            out.name = value;
            named = true;
        } else if (key == "records") {
            out.records = value;
            out.listed = true;
        } else if (key != nonce_key) {
            out.labels.push_back({key, value});
        }
    }
    // Either of the two alone is a label that somebody gave a record of external-dns.
    if (named != out.listed) {
        if (named) out.labels.push_back({"name", out.name});
        if (out.listed) out.labels.push_back({"records", out.records});
        out.listed = false;
        out.name = out.records = {};
    }
    return found;
}

OwnedRecord read_owned_record(std::string_view entry) {
    OwnedRecord record;
    auto rest = entry.substr(std::min(entry.find(';'), entry.size()));
    entry.remove_suffix(rest.size());
    const auto slash = std::min(entry.find('/'), entry.size());
    record.type = decoded(entry.substr(0, slash));
    if (slash < entry.size()) record.set_identifier = decoded(entry.substr(slash + 1));
    std::vector<std::pair<std::string, std::string>> texts;
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const auto end = std::min(rest.find(';'), rest.size());
        const auto label = rest.substr(0, end);
        rest.remove_prefix(end);
        const auto colon = label.find(':');
        if (colon == std::string_view::npos) continue;
        texts.emplace_back(decoded(label.substr(0, colon)), decoded(label.substr(colon + 1)));
    }
    std::vector<dns::Label> labels;
    labels.reserve(texts.size());
    for (const auto& [key, value] : texts) labels.push_back({key, value});
    record.labels = dns::Labels::of(labels);
    return record;
}

std::optional<OwnerText> parse_owner_text(std::string_view target, std::string_view encryption_key) {
    std::string scratch;
    std::string plain(txt_bytes(target, scratch));
    if (!encryption_key.empty()) {
        if (auto text = decrypt_owner_text(plain, encryption_key)) plain = std::move(*text);
    }
    OwnerFields fields;
    if (!read_owner_fields(plain, fields)) return std::nullopt;
    OwnerText text{std::string(fields.owner), decoded(fields.name), {}, std::nullopt};
    text.labels = dns::Labels::of(fields.labels);
    if (fields.listed) {
        text.records.emplace();
        for (const auto entry : split(fields.records, ' ')) {
            if (!entry.empty()) text.records->push_back(read_owned_record(entry));
        }
    }
    return text;
}

std::string owner_plain(const OwnerText& text) {
    std::vector<std::pair<std::string, std::string>> tokens;
    for (const auto& label : text.labels) {
        if (plain_key(label.key) && plain_value(label.value)) tokens.emplace_back(label.key, label.value);
    }
    tokens.emplace_back("owner", text.owner);
    if (text.records) {
        std::string name;
        append_encoded(name, text.name);
        tokens.emplace_back("name", std::move(name));
        tokens.emplace_back("records", list_text(*text.records, text.labels));
    }
    std::sort(tokens.begin(), tokens.end());
    std::string plain = "heritage=external-dns";
    for (const auto& [key, value] : tokens) plain += fmt::format(",{}{}={}", label_prefix, key, value);
    return plain;
}

std::string owner_text(const OwnerText& text) { return txt_target(owner_plain(text)); }

std::vector<OwnerText> shared_texts(std::string_view owner, std::string_view name,
                                    std::span<const OwnedRecord> records) {
    std::vector<OwnerText> texts;
    std::string list;
    const auto common = common_labels(records);
    for (const auto& record : records) {
        std::string entry;
        append_entry(entry, record, common);
        if (texts.empty() || list.size() + entry.size() >= max_list_bytes) {
            texts.push_back({std::string(owner), std::string(name), common, std::vector<OwnedRecord>{}});
            list.clear();
        }
        list += entry + ' ';
        texts.back().records->push_back(record);
    }
    return texts;
}

}  // namespace fairlead::plan
