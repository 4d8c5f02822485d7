#include "json/exact.h"

namespace fairlead::json {

namespace {

constexpr std::string_view white_space = " \t\r\n";

// Steps over tokens; nesting is counted, never followed, so that depth costs nothing.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    [[nodiscard]] bool done() const { return at_ >= text_.size(); }
    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] std::string_view since(std::size_t start) const { return text_.substr(start, at_ - start); }
    void step() { ++at_; }
    void skip_space() { at_ = std::min(text_.find_first_not_of(white_space, at_), text_.size()); }

    // A whole string with its quotes, or one structural character, or one literal.
    std::string_view token() {
        const auto start = at_;
        if (peek() == '"') {
            for (step(); !done() && peek() != '"'; step()) {
                if (peek() == '\\') step();
            }
            step();
        } else if (std::string_view("{}[],:").find(peek()) != std::string_view::npos) {
            step();
        } else {
            at_ = std::min(text_.find_first_of("{}[],: \t\r\n", at_), text_.size());
        }
        at_ = std::min(at_, text_.size());
        return since(start);
    }

    std::string_view value() {
        const auto start = at_;
        std::size_t depth = 0;
        do {
            skip_space();
            const auto part = token();
            if (part == "{" || part == "[") ++depth;
            if (part == "}" || part == "]") --depth;
        } while (depth > 0 && !done());
        return since(start);
    }

private:
    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::vector<TextMember> text_members(std::string_view text) {
    std::vector<TextMember> members;
    Scanner scanner(text);
    scanner.skip_space();
    if (scanner.peek() != '{') return members;
    scanner.step();
    for (;;) {
        scanner.skip_space();
        if (scanner.peek() == ',') {
            scanner.step();
            scanner.skip_space();
        }
        if (scanner.peek() != '"') return members;
        auto name = parse(scanner.token());
        scanner.skip_space();
        scanner.step();  // the colon
        scanner.skip_space();
        const auto value = scanner.value();
        if (name && name->is_string()) members.push_back({std::string(view(name->get_string())), value});
    }
}

std::string_view text_at(std::string_view text, std::string_view name) {
    std::string_view found;
    for (const auto& member : text_members(text)) {
        if (member.name == name) found = member.text;
    }
    return found;
}

std::string compact(std::string_view text) {
    std::string out;
    Scanner scanner(text);
    for (scanner.skip_space(); !scanner.done(); scanner.skip_space()) out += scanner.token();
    return out;
}

void drop_nulls(Value& value) {
    if (auto* object = value.if_object()) {
        // Erasing by iterator would reorder the members, so the survivors are moved over when there is a null at all.
        const bool any = std::any_of(object->begin(), object->end(), [](const auto& m) { return m.value().is_null(); });
        if (any) {
            Object kept;
            for (auto& member : *object) {
                if (!member.value().is_null()) kept.emplace(member.key(), std::move(member.value()));
            }
            *object = std::move(kept);
        }
        for (auto& member : *object) drop_nulls(member.value());
    } else if (auto* array = value.if_array()) {
        for (auto& item : *array) drop_nulls(item);
    }
}

}  // namespace fairlead::json
