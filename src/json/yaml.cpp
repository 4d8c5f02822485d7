// The YAML reader: libyaml's events composed into JSON values. This file is the home of libyaml. See yaml.h for the
// rules; everything an attacker can grow (depth, nodes, aliases, recorded paths) has a limit here.
#include "json/yaml.h"

#include <fmt/core.h>
#include <yaml.h>

#include <set>

#include "json/numbers.h"
#include "json/yaml_scalar.h"

namespace fairlead::json {
namespace {

// Paths longer than this are not recorded: 100,000 items below a 1 MB key would otherwise cost 100 GB.
constexpr std::size_t max_path_bytes = 1024;

boost::json::string_view boosted(std::string_view text) { return {text.data(), text.size()}; }

// libyaml's parser with its lifetime.
class EventParser {
public:
    explicit EventParser(std::string_view text) {
        if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
    ~EventParser() {
        yaml_event_delete(&event_);
        yaml_parser_delete(&parser_);
    }
    EventParser(const EventParser&) = delete;
    EventParser& operator=(const EventParser&) = delete;

    // The next event, valid until the next call; nothing on an error.
    const yaml_event_t* next() {
        yaml_event_delete(&event_);
        return yaml_parser_parse(&parser_, &event_) == 0 ? nullptr : &event_;
    }

    [[nodiscard]] Error error() const {
        const std::string problem = parser_.problem != nullptr ? parser_.problem : "cannot be read";
        if (parser_.error == YAML_READER_ERROR) {
            return Error{
                Errc::invalid, {}, fmt::format("invalid YAML at byte {}: {}", parser_.problem_offset, problem)};
        }
        const std::string context = parser_.context != nullptr ? fmt::format("{}, ", parser_.context) : "";
        return Error{Errc::invalid,
                     {},
                     fmt::format("invalid YAML at line {} column {}: {}{}", parser_.problem_mark.line + 1,
                                 parser_.problem_mark.column + 1, context, problem)};
    }

private:
    yaml_parser_t parser_{};
    yaml_event_t event_{};
};

std::string_view text_of(const unsigned char* text, std::size_t size) {
    return {reinterpret_cast<const char*>(text), size};
}
std::string_view text_of(const unsigned char* text) {
    return text == nullptr ? std::string_view{} : std::string_view(reinterpret_cast<const char*>(text));
}

// A composed node and what it costs to use it again through an alias.
struct Node {
    Value value;
    std::size_t nodes = 1;
    std::size_t bytes = 0;   // of text
    std::size_t height = 0;  // levels of lists and maps
};

// Composes one document after the other. Errors leave through the `Failed` exception, caught in parse_yaml: the
// recursion would otherwise be mostly error plumbing. It does not leave this file.
struct Failed {
    Error error;
    bool about_limits_or_duplicates = false;  // not about syntax: holds for JSON text too
};

[[noreturn]] void refuse(const yaml_mark_t& mark, const std::string& what, Errc code = Errc::invalid,
                         bool duplicate = false) {
    const auto where = fmt::format("invalid YAML at line {} column {}: {}", mark.line + 1, mark.column + 1, what);
    throw Failed{Error{code, {}, where}, duplicate || code == Errc::too_large};
}

class Composer {
public:
    Composer(std::string_view text, const YamlLimits& limits) : events_(text), limits_(limits) {}

    std::vector<YamlDocument> compose() {
        std::vector<YamlDocument> documents;
        while (true) {
            const auto& event = next();
            if (event.type == YAML_STREAM_END_EVENT) return documents;
            if (event.type != YAML_DOCUMENT_START_EVENT) continue;  // stream start, document end
            anchors_.clear();
            path_.clear();
            document_ = {};
            const auto& first = next();
            document_.line = first.start_mark.line + 1;
            document_.value = node(first, 0).value;
            // "a: 1\n---\n# only a comment" ends in an empty document: nothing to tell anybody about.
            if (!document_.value.is_null()) documents.push_back(std::move(document_));
        }
    }

private:
    const yaml_event_t& next() {
        const auto* event = events_.next();
        if (event == nullptr) throw Failed{events_.error(), false};
        return *event;
    }

    void count(const yaml_mark_t& mark, std::size_t nodes, std::size_t alias_bytes) {
        nodes_ += nodes;
        alias_bytes_ += alias_bytes;
        if (nodes_ > limits_.max_nodes) {
            refuse(mark, fmt::format("more than {} values (aliases count)", limits_.max_nodes), Errc::too_large);
        }
        if (alias_bytes_ > limits_.max_bytes) {
            refuse(mark, fmt::format("aliases expand to more than {} bytes", limits_.max_bytes), Errc::too_large);
        }
    }

    // Composes the node that starts with `event`, at `depth` levels below the document.
    Node node(const yaml_event_t& event, std::size_t depth) {
        if (!path_.empty() && path_.size() <= max_path_bytes) document_.lines.emplace(path_, event.start_mark.line + 1);
        std::string anchor;
        Node made;
        const auto mark = event.start_mark;
        switch (event.type) {
            case YAML_ALIAS_EVENT:
                return alias(event, depth);
            case YAML_SCALAR_EVENT:
                count(mark, 1, 0);
                anchor = text_of(event.data.scalar.anchor);
                made.value = scalar(event);
                made.bytes = event.data.scalar.length;
                break;
            case YAML_SEQUENCE_START_EVENT:
                anchor = text_of(event.data.sequence_start.anchor);
                check_tag(mark, text_of(event.data.sequence_start.tag), YAML_SEQ_TAG);
                made = sequence(mark, depth);
                break;
            case YAML_MAPPING_START_EVENT:
                anchor = text_of(event.data.mapping_start.anchor);
                check_tag(mark, text_of(event.data.mapping_start.tag), YAML_MAP_TAG);
                made = mapping(mark, depth);
                break;
            default:
                refuse(mark, "a value is expected");
        }
        if (!anchor.empty()) anchors_[anchor] = made;
        return made;
    }

    void enter(const yaml_mark_t& mark, std::size_t depth) {
        if (depth >= max_depth) refuse(mark, fmt::format("nested deeper than {}", max_depth));
        count(mark, 1, 0);
    }

    Node alias(const yaml_event_t& event, std::size_t depth) {
        const std::string name(text_of(event.data.alias.anchor));
        const auto found = anchors_.find(name);
        if (found == anchors_.end()) {
            refuse(event.start_mark,
                   fmt::format("unknown anchor '{}' (it must stand before, and not contain itself)", name));
        }
        if (depth + found->second.height > max_depth) {
            refuse(event.start_mark, fmt::format("nested deeper than {}", max_depth));
        }
        count(event.start_mark, found->second.nodes, found->second.bytes);
        return found->second;
    }

    static void absorb(Node& parent, const Node& child) {
        parent.nodes += child.nodes;
        parent.bytes += child.bytes;
        parent.height = std::max(parent.height, child.height + 1);
    }

    Node sequence(const yaml_mark_t& mark, std::size_t depth) {
        enter(mark, depth);
        Node made{.value = Array(), .nodes = 1, .bytes = 0, .height = 1};
        auto& items = made.value.get_array();
        const auto path_size = path_.size();
        while (true) {
            const auto& event = next();
            if (event.type == YAML_SEQUENCE_END_EVENT) return made;
            path_ += fmt::format("[{}]", items.size());
            Node item = node(event, depth + 1);
            path_.resize(path_size);
            absorb(made, item);
            items.push_back(std::move(item.value));
        }
    }

    Node mapping(const yaml_mark_t& mark, std::size_t depth) {
        enter(mark, depth);
        Node made{.value = Object(), .nodes = 1, .bytes = 0, .height = 1};
        auto& members = made.value.get_object();
        std::vector<Value> merges;
        const auto path_size = path_.size();
        while (true) {
            const auto& event = next();
            if (event.type == YAML_MAPPING_END_EVENT) break;
            const auto key_mark = event.start_mark;
            const bool merge = event.type == YAML_SCALAR_EVENT && event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                               text_of(event.data.scalar.value, event.data.scalar.length) == "<<";
            const std::string name = key(event);
            if (!merge && members.contains(name)) {
                refuse(key_mark, fmt::format("key \"{}\" is already set in this map", name), Errc::invalid, true);
            }
            if (!path_.empty()) path_ += '.';
            path_ += name;
            const auto& value_event = next();
            Node value = node(value_event, depth + 1);
            path_.resize(path_size);
            absorb(made, value);
            made.bytes += name.size();
            if (merge) {
                check_merge(key_mark, value.value);
                merges.push_back(std::move(value.value));
            } else {
                members.emplace(boosted(name), std::move(value.value));
            }
        }
        for (const auto& value : merges) merge_into(members, value);
        return made;
    }

    static void check_merge(const yaml_mark_t& mark, const Value& value) {
        const auto* list = value.if_array();
        const bool fits = value.is_object() ||
                          (list != nullptr &&
                           std::all_of(list->begin(), list->end(), [](const Value& item) { return item.is_object(); }));
        if (!fits) refuse(mark, "<< takes a map or a list of maps");
    }

    // Keys that are there win; earlier maps of a list win over later ones.
    static void merge_into(Object& members, const Value& from) {
        if (const auto* list = from.if_array()) {
            for (const auto& item : *list) merge_into(members, item);
            return;
        }
        for (const auto& member : from.get_object()) members.emplace(member.key(), member.value());
    }

    // JSON has only string keys: numbers and booleans become their text, as sigs.k8s.io/yaml does.
    std::string key(const yaml_event_t& event) {
        Value value;
        if (event.type == YAML_ALIAS_EVENT) {
            value = alias(event, max_depth).value;
        } else if (event.type == YAML_SCALAR_EVENT) {
            count(event.start_mark, 1, 0);
            value = scalar(event);
            const std::string anchor(text_of(event.data.scalar.anchor));
            if (!anchor.empty()) anchors_[anchor] = Node{value, 1, event.data.scalar.length, 0};
        }
        if (const auto* text = value.if_string()) return std::string(view(*text));
        if (value.is_bool() || value.is_number()) return serialize(value);
        refuse(event.start_mark, "a key must be a string, a number or a boolean");
    }

    static void check_tag(const yaml_mark_t& mark, std::string_view tag, std::string_view expected) {
        if (tag.empty() || tag == "!" || tag == expected) return;
        refuse(mark, fmt::format("tag {} is not supported here", tag));
    }

    static Value scalar(const yaml_event_t& event) {
        const auto text = text_of(event.data.scalar.value, event.data.scalar.length);
        const auto tag = text_of(event.data.scalar.tag);
        const Value as_string(boosted(text));
        if (tag == YAML_STR_TAG || tag == "!") return as_string;
        if (tag.empty() && event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return as_string;
        auto resolved = resolve_plain(text);
        if (!resolved) refuse(event.start_mark, resolved.error().message);
        if (tag.empty()) return std::move(*resolved);
        const bool fits = (tag == YAML_NULL_TAG && resolved->is_null()) ||
                          (tag == YAML_BOOL_TAG && resolved->is_bool()) ||
                          (tag == YAML_INT_TAG && (resolved->is_int64() || resolved->is_uint64())) ||
                          (tag == YAML_FLOAT_TAG && resolved->is_number());
        if (!fits) refuse(event.start_mark, fmt::format("cannot read \"{}\" as {}", text.substr(0, 80), tag));
        return std::move(*resolved);
    }

    EventParser events_;
    const YamlLimits& limits_;
    YamlDocument document_;
    std::map<std::string, Node, std::less<>> anchors_;
    std::string path_;
    std::size_t nodes_ = 0;
    std::size_t alias_bytes_ = 0;
};

// JSON is not quite YAML: libyaml refuses surrogate pairs in escapes, keys above 1024 characters and tabs as
// indentation, and it folds U+2028 and its kin inside quotes. So text that is JSON is read as JSON, as kubectl does,
// and the YAML reader only adds line numbers and finds duplicate keys.
bool may_be_json(std::string_view text) {
    const auto start = text.find_first_not_of(" \t\r\n");
    return start != std::string_view::npos && (text[start] == '{' || text[start] == '[');
}

}  // namespace

std::size_t YamlDocument::line_of(std::string_view field) const {
    while (!field.empty()) {
        if (const auto found = lines.find(std::string(field)); found != lines.end()) return found->second;
        const auto cut = field.find_last_of(".[");
        field = cut == std::string_view::npos ? std::string_view{} : field.substr(0, cut);
    }
    return line;
}

Result<std::vector<YamlDocument>> parse_yaml(std::string_view text, const YamlLimits& limits) {
    if (text.size() > limits.max_bytes) {
        return fail(Errc::too_large,
                    fmt::format("{} bytes of YAML, at most {} are read", text.size(), limits.max_bytes));
    }
    auto json = may_be_json(text) ? parse(text) : fail(Errc::invalid, "no JSON");
    try {
        auto documents = Composer(text, limits).compose();
        if (json && documents.size() == 1) documents.front().value = std::move(*json);
        return documents;
    } catch (Failed& failed) {
        if (!json || failed.about_limits_or_duplicates) return fail(std::move(failed.error));
    } catch (const std::exception& exception) {  // bad_alloc, length_error
        return fail(Errc::internal, fmt::format("cannot read YAML: {}", exception.what()));
    }
    std::vector<YamlDocument> documents;
    documents.push_back({.value = std::move(*json), .line = 1, .lines = {}});
    return documents;
}

}  // namespace fairlead::json
