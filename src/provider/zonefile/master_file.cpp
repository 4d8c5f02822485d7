#include "provider/zonefile/master_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "dns/bytes.h"
#include "dns/message_reader.h"
#include "dns/rdata.h"
#include "dns/soa.h"
#include "dns/tokens.h"
#include "provider/zonefile/master_lines.h"

namespace fairlead::provider::zonefile {

namespace {

using dns::RecordType;

constexpr std::size_t max_type_bytes = 16;

bool is_absolute(std::string_view text) {
    if (!text.ends_with('.')) return false;
    std::size_t slashes = 0;
    while (slashes + 1 < text.size() && text[text.size() - 2 - slashes] == '\\') ++slashes;
    return slashes % 2 == 0;
}

Result<dns::Name> name_of(std::string_view text, const dns::Name& origin) {
    if (text == "@") return origin;
    auto name = dns::Name::parse(text);
    if (!name || is_absolute(text)) return name;
    std::string wire = name->wire();
    wire.pop_back();
    return dns::Name::from_wire(wire + origin.wire());
}

// Which words of the data are names, by position.
std::vector<std::size_t> name_words(RecordType type) {
    switch (type) {
        case RecordType::ns:
        case RecordType::cname:
        case RecordType::ptr:
            return {0};
        case RecordType::soa:
            return {0, 1};
        case RecordType::mx:
        case RecordType::svcb:
        case RecordType::https:
            return {1};
        case RecordType::srv:
            return {3};
        case RecordType::a:
        case RecordType::aaaa:
        case RecordType::txt:
        case RecordType::caa:
        case RecordType::tlsa:
            return {};
    }
    return {};
}

// RFC 3597 section 5: \# LENGTH HEX...
Result<std::string> generic_data(RecordType type, std::span<const std::string> words) {
    const auto size = words.size() > 1 ? parse_int(words[1]) : std::nullopt;
    std::string digits;
    for (std::size_t i = 2; i < words.size(); ++i) digits += lower(words[i]);
    if (!size || *size < 0 || digits.size() != static_cast<std::size_t>(*size) * 2) {
        return fail(Errc::invalid, "\\# needs a length and as many bytes in hexadecimal");
    }
    std::string bytes;
    for (std::size_t at = 0; at < digits.size(); at += 2) {
        unsigned value = 0;
        for (const char c : {digits[at], digits[at + 1]}) {
            const auto digit = std::string_view("0123456789abcdef").find(c);
            if (digit == std::string_view::npos) return fail(Errc::invalid, "\\# needs hexadecimal digits");
            value = value * 16 + static_cast<unsigned>(digit);
        }
        dns::put8(bytes, value);
    }
    auto data = dns::read_rdata(type, bytes, 0, bytes.size());
    if (!data) return fail(Errc::invalid, fmt::format("is no data of a {} record", dns::type_text(type)));
    return std::move(*data);
}

Result<std::string> known_data(RecordType type, std::span<const std::string> words, const dns::Name& origin) {
    if (!words.empty() && words[0] == "\\#") return generic_data(type, words);
    std::vector<std::string> texts(words.begin(), words.end());
    for (const auto at : name_words(type)) {
        if (at >= texts.size()) break;
        const auto name = name_of(texts[at], origin);
        if (!name) return fail(name.error());
        texts[at] = name->text();
    }
    if (type == RecordType::soa) {
        for (std::size_t i = 3; i < texts.size(); ++i) {
            const auto seconds = parse_ttl(texts[i]);
            if (!seconds) return fail(Errc::invalid, fmt::format("\"{}\" is no time", texts[i]));
            texts[i] = std::to_string(*seconds);
        }
    }
    if (type == RecordType::txt) {
        if (texts.empty()) return fail(Errc::invalid, "a TXT record has at least one string");
        for (auto& text : texts) {
            if (!text.starts_with('"')) text = '"' + text + '"';  // a word without blanks, its escapes stay
        }
    }
    return dns::parse_rdata(type, join(texts, " "));
}

class Parser {
public:
    Parser(std::string_view text, const dns::Name& apex) : lines_(text), apex_(apex), origin_(apex) {}

    Result<MasterFile> parse() {
        while (true) {
            auto line = lines_.next();
            if (!line) return fail(std::move(line.error()));
            if (!*line) break;
            auto taken = take(**line);
            if (!taken) {
                return fail(Errc::invalid, fmt::format("line {}: {}", (*line)->number, taken.error().text()));
            }
        }
        return std::move(zone_);
    }

private:
    Result<void> take(const MasterLine& line) {
        if (!line.indented && line.words[0].starts_with('$')) return directive(line.words);
        std::size_t at = 0;
        if (!line.indented) {
            auto name = name_of(line.words[at++], origin_);
            if (!name) return fail(std::move(name.error()));
            owner_ = std::move(*name);
        }
        if (!owner_) return fail(Errc::invalid, "the first record has no owner");
        if (!owner_->at_or_below(apex_)) {
            return fail(Errc::invalid, fmt::format("{} is not in the zone {}", owner_->host(), apex_.host()));
        }
        return record(std::span(line.words).subspan(at));
    }

    Result<void> directive(const std::vector<std::string>& words) {
        if (words[0] == "$ORIGIN" && words.size() == 2) {
            auto name = name_of(words[1], origin_);
            if (!name) return fail(std::move(name.error()));
            origin_ = std::move(*name);
            return {};
        }
        if (words[0] == "$TTL" && words.size() == 2) {
            default_ttl_ = parse_ttl(words[1]);
            if (!default_ttl_) return fail(Errc::invalid, fmt::format("$TTL \"{}\" is no time", words[1]));
            return {};
        }
        return fail(Errc::invalid, fmt::format("{} is not understood: only $ORIGIN NAME and $TTL TIME are", words[0]));
    }

    Result<void> record(std::span<const std::string> words) {
        std::optional<std::uint32_t> ttl;
        bool klass = false;
        while (!words.empty()) {
            const auto& word = words.front();
            if (!klass && equal_ignoring_case(word, "IN")) {
                klass = true;
            } else if (!ttl && word[0] >= '0' && word[0] <= '9') {
                ttl = parse_ttl(word);
                if (!ttl) return fail(Errc::invalid, fmt::format("\"{}\" is no TTL", word));
            } else {
                break;
            }
            words = words.subspan(1);
        }
        if (words.empty()) return fail(Errc::invalid, "the type is missing");
        const auto& type_word = words.front();
        words = words.subspan(1);
        const auto type = dns::parse_type(type_word);
        if (!type) return other(ttl, type_word, words);
        auto data = known_data(*type, words, origin_);
        if (!data) return fail(std::move(data.error()));
        if (*type == RecordType::soa && !soa(ttl, *data))
            return fail(Errc::invalid, "the SOA stands at the apex, once");
        auto seconds = ttl_of(ttl);
        if (!seconds) return fail(std::move(seconds.error()));
        add_record(zone_.sets, *owner_, *type, *seconds, std::move(*data));
        return {};
    }

    // RFC 1035: what a record leaves out is as in the one before; without $TTL the SOA's own last number begins.
    bool soa(std::optional<std::uint32_t>& ttl, std::string_view data) {
        if (*owner_ != apex_ || zone_.sets.contains({apex_, RecordType::soa})) return false;
        if (!ttl && !default_ttl_ && !last_ttl_) ttl = dns::get32(data, data.size() - 4);
        return true;
    }

    Result<std::uint32_t> ttl_of(const std::optional<std::uint32_t>& stated) {
        const auto ttl = stated ? stated : default_ttl_ ? default_ttl_ : last_ttl_;
        if (!ttl) return fail(Errc::invalid, "no TTL: neither here nor before, and no $TTL");
        last_ttl_ = ttl;
        return *ttl;
    }

    Result<void> other(const std::optional<std::uint32_t>& ttl, const std::string& type,
                       std::span<const std::string> words) {
        const bool plain = std::all_of(type.begin(), type.end(), [](char c) {
            return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
        });
        if (!plain || type.size() > max_type_bytes) {
            return fail(Errc::invalid, fmt::format("\"{}\" is no type of record", type));
        }
        if (equal_ignoring_case(type, "CH") || equal_ignoring_case(type, "HS") || equal_ignoring_case(type, "CS")) {
            return fail(Errc::invalid, fmt::format("class {} is not supported", type));
        }
        auto seconds = ttl_of(ttl);
        if (!seconds) return fail(std::move(seconds.error()));
        zone_.others.push_back({*owner_, origin_, *seconds, type, join({words.begin(), words.end()}, " ")});
        return {};
    }

    MasterLines lines_;
    const dns::Name& apex_;
    dns::Name origin_;
    std::optional<dns::Name> owner_;
    std::optional<std::uint32_t> default_ttl_, last_ttl_;
    MasterFile zone_;
};

// The name as a file writes it under its origin.
std::string relative(const dns::Name& name, const dns::Name& origin) {
    if (name == origin) return "@";
    if (!name.at_or_below(origin) || origin.is_root()) return name.text();
    const auto wire = name.wire().substr(0, name.wire().size() - origin.wire().size()) + '\0';
    const auto rest = dns::Name::from_wire(wire);
    return rest ? rest->host() : name.text();
}

class Writer {
public:
    Writer(const dns::Name& apex, std::uint32_t default_ttl) : default_ttl_(default_ttl) {
        result_ += fmt::format("; Kept by Fairlead. Records of others stay; comments do not.\n$ORIGIN {}\n$TTL {}\n",
                               apex.text(), default_ttl);
    }

    void soa(const PlainSet& set) {
        const auto& data = *set.data.begin();
        const auto words = split(std::string_view(text_ = dns::rdata_text(RecordType::soa, data)), ' ');
        head("@", set.ttl, "SOA");
        result_ += fmt::format("{} {} (\n", words[0], words[1]);
        constexpr std::string_view labels[] = {"Serial", "Refresh", "Retry", "Expire", "Negative Cache TTL"};
        for (std::size_t i = 0; i < std::size(labels); ++i) {
            result_ +=
                fmt::format("{:>35}{:<10}; {}\n", words[2 + i], i + 1 == std::size(labels) ? " )" : "", labels[i]);
        }
        last_ = "@";
    }

    void set(const std::string& owner, const PlainSet& set) {
        for (const auto& data : set.data) {
            head(owner == last_ ? "" : owner, set.ttl, dns::type_text(set.type));
            result_ += dns::rdata_text(set.type, data);
            result_ += '\n';
            last_ = owner;
        }
    }

    void other(const OtherRecord& record, const dns::Name& origin) {
        if (record.origin != origin) result_ += fmt::format("$ORIGIN {}\n", record.origin.text());
        head(relative(record.name, record.origin), record.ttl, record.type);
        result_ += record.text;
        result_ += '\n';
    }

    std::string take() { return std::move(result_); }

private:
    void head(std::string_view owner, std::uint32_t ttl, std::string_view type) {
        const auto seconds = ttl == default_ttl_ ? std::string() : std::to_string(ttl);
        result_ += fmt::format("{:<23} {:<7} IN      {:<7} ", owner, seconds, type);
    }

    std::uint32_t default_ttl_;
    std::string result_, text_;
    std::string last_;  // owner of the record before
};

}  // namespace

Result<MasterFile> parse_master_file(std::string_view text, const dns::Name& apex) {
    if (text.size() > max_file_bytes) {
        return fail(Errc::too_large, fmt::format("{} bytes are over {}", text.size(), max_file_bytes));
    }
    return Parser(text, apex).parse();
}

std::string master_file_text(const MasterFile& zone, const dns::Name& apex, std::uint32_t default_ttl) {
    Writer writer(apex, default_ttl);
    const auto soa = zone.sets.find({apex, RecordType::soa});
    if (soa != zone.sets.end()) writer.soa(soa->second);
    const auto servers = zone.sets.find({apex, RecordType::ns});
    if (servers != zone.sets.end()) writer.set("@", servers->second);
    std::vector<std::pair<std::string, const PlainSet*>> rest;  // by owner as it is written
    rest.reserve(zone.sets.size());
    for (const auto& [key, set] : zone.sets) {
        if (key.first == apex && (key.second == RecordType::soa || key.second == RecordType::ns)) continue;
        rest.emplace_back(relative(key.first, apex), &set);
    }
    std::sort(rest.begin(), rest.end(), [](const auto& a, const auto& b) {
        // The apex first; types of one name in the order of their numbers.
        return std::tuple(a.first != "@", std::string_view(a.first), a.second->type) <
               std::tuple(b.first != "@", std::string_view(b.first), b.second->type);
    });
    for (const auto& [owner, set] : rest) writer.set(owner, *set);
    auto others = zone.others;
    std::stable_sort(others.begin(), others.end(), [&apex](const OtherRecord& a, const OtherRecord& b) {
        return std::tuple(a.origin != apex, a.origin) < std::tuple(b.origin != apex, b.origin);
    });
    auto origin = apex;
    for (const auto& record : others) {
        writer.other(record, origin);
        origin = record.origin;
    }
    return writer.take();
}

}  // namespace fairlead::provider::zonefile
