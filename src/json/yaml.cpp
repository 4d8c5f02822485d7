// The YAML reader: libyaml's events composed into JSON values. This file is the home of libyaml. See yaml.h for the
// rules; everything an attacker can grow (depth, nodes, aliases, recorded paths) has a limit here.
#include "json/yaml.h"

#include <fmt/core.h>
#include <yaml.h>

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
        if (yaml_parser_initialize(&parser_) == 0) return;  // out of memory: next() reports it
        ready_ = true;
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
        return !ready_ || yaml_parser_parse(&parser_, &event_) == 0 ? nullptr : &event_;
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
    bool ready_ = false;
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

std::string placed(const yaml_mark_t& mark, const std::string& what) {
    return fmt::format("invalid YAML at line {} column {}: {}", mark.line + 1, mark.column + 1, what);
}
tl::unexpected<Error> refuse(const yaml_mark_t& mark, const std::string& what, Errc code = Errc::invalid) {
    return fail(code, placed(mark, what));
}

// Composes one document after the other.
class Composer {
public:
    Composer(std::string_view text, const YamlLimits& limits) : events_(text), limits_(limits) {}

    Result<std::vector<YamlDocument>> compose() {
        std::vector<YamlDocument> documents;
        while (true) {
            const auto* event = events_.next();
            if (event == nullptr) return fail(events_.error());
            if (event->type == YAML_STREAM_END_EVENT) return documents;
            if (event->type != YAML_DOCUMENT_START_EVENT) continue;  // stream start, document end
            anchors_.clear();
            path_.clear();
            document_ = {};
            auto root = next_node(0);
            if (!root) return fail(std::move(root.error()));
            document_.value = std::move(root->value);
            // "a: 1\n---\n# only a comment" ends in an empty document: nothing to tell anybody about.
            if (!document_.value.is_null()) documents.push_back(std::move(document_));
        }
    }

    // Failed because a key stands twice: no matter of syntax, so it holds for JSON text too.
    [[nodiscard]] bool found_duplicate() const { return found_duplicate_; }

private:
    Result<void> count(const yaml_mark_t& mark, std::size_t nodes, std::size_t alias_bytes) {
        nodes_ += nodes;
        alias_bytes_ += alias_bytes;
        if (nodes_ > limits_.max_nodes) {
            return refuse(mark, fmt::format("more than {} values (aliases count)", limits_.max_nodes), Errc::too_large);
        }
        if (alias_bytes_ > limits_.max_bytes) {
            return refuse(mark, fmt::format("aliases expand to more than {} bytes", limits_.max_bytes),
                          Errc::too_large);
        }
        return {};
    }

    Result<Node> next_node(std::size_t depth) {
        const auto* event = events_.next();
        if (event == nullptr) return fail(events_.error());
        if (depth == 0) document_.line = event->start_mark.line + 1;
        return node(*event, depth);
    }

    // Composes the node that starts with `event`, at `depth` levels below the document.
    Result<Node> node(const yaml_event_t& event, std::size_t depth) {
        if (!path_.empty() && path_.size() <= max_path_bytes) document_.lines.emplace(path_, event.start_mark.line + 1);
        const auto mark = event.start_mark;
        std::string anchor;
        Result<Node> made;
        if (event.type == YAML_ALIAS_EVENT) return alias(event, depth);
        if (event.type == YAML_SCALAR_EVENT) {
            anchor = text_of(event.data.scalar.anchor);
            made = scalar(event);
        } else if (event.type == YAML_SEQUENCE_START_EVENT) {
            anchor = text_of(event.data.sequence_start.anchor);
            const auto fits = check_tag(mark, text_of(event.data.sequence_start.tag), YAML_SEQ_TAG);
            made = fits ? sequence(mark, depth) : fail(fits.error());
        } else if (event.type == YAML_MAPPING_START_EVENT) {
            anchor = text_of(event.data.mapping_start.anchor);
            const auto fits = check_tag(mark, text_of(event.data.mapping_start.tag), YAML_MAP_TAG);
            made = fits ? mapping(mark, depth) : fail(fits.error());
        } else {
            return refuse(mark, "a value is expected");
        }
        if (made && !anchor.empty()) anchors_[anchor] = *made;
        return made;
    }

    Result<void> enter(const yaml_mark_t& mark, std::size_t depth) {
        if (depth >= max_depth) return refuse(mark, fmt::format("nested deeper than {}", max_depth));
        return count(mark, 1, 0);
    }

    Result<Node> alias(const yaml_event_t& event, std::size_t depth) {
        const std::string name(text_of(event.data.alias.anchor));
        const auto found = anchors_.find(name);
        if (found == anchors_.end()) {
            const auto what = fmt::format("unknown anchor '{}' (it must stand before, and not contain itself)", name);
            return refuse(event.start_mark, what);
        }
        if (depth + found->second.height > max_depth) {
            return refuse(event.start_mark, fmt::format("nested deeper than {}", max_depth));
        }
        if (auto counted = count(event.start_mark, found->second.nodes, found->second.bytes); !counted) {
            return fail(std::move(counted.error()));
        }
        return found->second;
    }

    static void absorb(Node& parent, const Node& child) {
        parent.nodes += child.nodes;
        parent.bytes += child.bytes;
        parent.height = std::max(parent.height, child.height + 1);
    }

    Result<Node> sequence(const yaml_mark_t& mark, std::size_t depth) {
        if (auto entered = enter(mark, depth); !entered) return fail(std::move(entered.error()));
        Node made{.value = Array(), .nodes = 1, .bytes = 0, .height = 1};
        auto& items = made.value.get_array();
        const auto path_size = path_.size();
        while (true) {
            const auto* event = events_.next();
            if (event == nullptr) return fail(events_.error());
            if (event->type == YAML_SEQUENCE_END_EVENT) return made;
            path_ += fmt::format("[{}]", items.size());
            auto item = node(*event, depth + 1);
            if (!item) return item;
            path_.resize(path_size);
            absorb(made, *item);
            items.push_back(std::move(item->value));
        }
    }

    Result<Node> mapping(const yaml_mark_t& mark, std::size_t depth) {
        if (auto entered = enter(mark, depth); !entered) return fail(std::move(entered.error()));
        Node made{.value = Object(), .nodes = 1, .bytes = 0, .height = 1};
        auto& members = made.value.get_object();
        std::vector<Value> merges;
        const auto path_size = path_.size();
        while (true) {
            const auto* event = events_.next();
            if (event == nullptr) return fail(events_.error());
            if (event->type == YAML_MAPPING_END_EVENT) break;
            const auto key_mark = event->start_mark;
            const bool merge = is_merge(*event);
            auto name = key(*event);
            if (!name) return fail(std::move(name.error()));
            if (!merge && members.contains(*name)) {
                found_duplicate_ = true;
                return refuse(key_mark, fmt::format("key \"{}\" is already set in this map", *name));
            }
            if (!path_.empty()) path_ += '.';
            path_ += *name;
            auto value = next_node(depth + 1);
            if (!value) return value;
            path_.resize(path_size);
            absorb(made, *value);
            made.bytes += name->size();
            if (!merge) {
                members.emplace(boosted(*name), std::move(value->value));
            } else if (can_merge(value->value)) {
                merges.push_back(std::move(value->value));
            } else {
                return refuse(key_mark, "<< takes a map or a list of maps");
            }
        }
        for (const auto& value : merges) merge_into(members, value);
        return made;
    }

    static bool is_merge(const yaml_event_t& event) {
        return event.type == YAML_SCALAR_EVENT && event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
               text_of(event.data.scalar.value, event.data.scalar.length) == "<<";
    }

    static bool can_merge(const Value& value) {
        const auto* list = value.if_array();
        return value.is_object() || (list != nullptr && std::all_of(list->begin(), list->end(), [](const Value& item) {
                                         return item.is_object();
                                     }));
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
    Result<std::string> key(const yaml_event_t& event) {
        Result<Node> made = Node{};
        if (event.type == YAML_ALIAS_EVENT) made = alias(event, max_depth);
        if (event.type == YAML_SCALAR_EVENT) {
            made = scalar(event);
            const std::string anchor(text_of(event.data.scalar.anchor));
            if (made && !anchor.empty()) anchors_[anchor] = *made;
        }
        if (!made) return fail(std::move(made.error()));
        if (const auto* text = made->value.if_string()) return std::string(view(*text));
        if (made->value.is_bool() || made->value.is_number()) return json::serialize(made->value);
        return refuse(event.start_mark, "a key must be a string, a number or a boolean");
    }

    static Result<void> check_tag(const yaml_mark_t& mark, std::string_view tag, std::string_view expected) {
        if (tag.empty() || tag == "!" || tag == expected) return {};
        return refuse(mark, fmt::format("tag {} is not supported here", tag));
    }

    Result<Node> scalar(const yaml_event_t& event) {
        if (auto counted = count(event.start_mark, 1, 0); !counted) return fail(std::move(counted.error()));
        const auto text = text_of(event.data.scalar.value, event.data.scalar.length);
        const auto tag = text_of(event.data.scalar.tag);
        Node made{.value = nullptr, .nodes = 1, .bytes = text.size(), .height = 0};
        const bool quoted = event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        if (tag == YAML_STR_TAG || tag == "!" || (tag.empty() && quoted)) {
            made.value = boosted(text);
            return made;
        }
        auto resolved = resolve_plain(text);
        if (!resolved) return refuse(event.start_mark, resolved.error().message);
        const bool fits = tag.empty() || (tag == YAML_NULL_TAG && resolved->is_null()) ||
                          (tag == YAML_BOOL_TAG && resolved->is_bool()) ||
                          (tag == YAML_INT_TAG && (resolved->is_int64() || resolved->is_uint64())) ||
                          (tag == YAML_FLOAT_TAG && resolved->is_number());
        if (!fits) return refuse(event.start_mark, fmt::format("cannot read \"{}\" as {}", text.substr(0, 80), tag));
        made.value = std::move(*resolved);
        return made;
    }

    EventParser events_;
    const YamlLimits& limits_;
    YamlDocument document_;
    std::map<std::string, Node, std::less<>> anchors_;
    std::string path_;
    std::size_t nodes_ = 0;
    std::size_t alias_bytes_ = 0;
    bool found_duplicate_ = false;
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
        Composer composer(text, limits);
        auto documents = composer.compose();
        if (documents && json && documents->size() == 1) documents->front().value = std::move(*json);
        const bool binding = composer.found_duplicate() || (!documents && documents.error().code == Errc::too_large);
        if (documents || !json || binding) return documents;
    } catch (const std::exception& exception) {  // bad_alloc, length_error
        return fail(Errc::internal, fmt::format("cannot read YAML: {}", exception.what()));
    }
    std::vector<YamlDocument> documents;
    documents.push_back({.value = std::move(*json), .line = 1, .lines = {}});
    return documents;
}

}  // namespace fairlead::json
