// Label and field selectors: the grammar of k8s.io/apimachinery/pkg/labels and pkg/fields. Pure; matching allocates
// nothing, since it runs for every object of a list and for every event of a watch.
#include "resource/selector.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "resource/field_error.h"
#include "resource/meta.h"
#include "resource/names.h"

namespace fairlead::resource {

namespace {

// A query string is bounded by the server's header limit; these bound what a LabelSelector in a body may cost.
constexpr std::size_t max_requirements = 256;
constexpr std::size_t max_values = 1024;

enum class Token {
    end,
    identifier,
    comma,
    open,
    close,
    equals,
    double_equals,
    not_equals,
    not_,
    greater,
    less,
    in,
    not_in
};

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) { advance(); }

    [[nodiscard]] Token token() const { return token_; }
    [[nodiscard]] std::string_view literal() const { return literal_; }
    // Words are keywords only where an operator may stand: `in` is also a fine label key.
    [[nodiscard]] Token operator_token() const {
        if (token_ == Token::identifier && literal_ == "in") return Token::in;
        if (token_ == Token::identifier && literal_ == "notin") return Token::not_in;
        return token_;
    }

    void advance() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
        const std::size_t start = at_;
        if (at_ == text_.size()) {
            token_ = Token::end;
        } else if (is_special(text_[at_])) {
            token_ = symbol();
        } else {
            while (at_ < text_.size() && !is_space(text_[at_]) && !is_special(text_[at_])) ++at_;
            token_ = Token::identifier;
        }
        literal_ = text_.substr(start, at_ - start);
    }

private:
    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
    static bool is_special(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }

    Token symbol() {
        const char c = text_[at_++];
        const bool then_equals = at_ < text_.size() && text_[at_] == '=';
        switch (c) {
            case ',':
                return Token::comma;
            case '(':
                return Token::open;
            case ')':
                return Token::close;
            case '>':
                return Token::greater;
            case '<':
                return Token::less;
            case '!':
                return then_equals ? (++at_, Token::not_equals) : Token::not_;
            default:
                return then_equals ? (++at_, Token::double_equals) : Token::equals;
        }
    }

    std::string_view text_, literal_;
    std::size_t at_ = 0;
    Token token_ = Token::end;
};

tl::unexpected<Error> unparsable(std::string_view found, std::string_view expected) {
    return fail(Errc::invalid, fmt::format("unable to parse requirement: found '{}', expected: {}", found, expected));
}

std::string_view op_text(SelectorOp op) {
    switch (op) {
        case SelectorOp::equals:
            return "=";
        case SelectorOp::not_equals:
            return "!=";
        case SelectorOp::in:
            return "in";
        case SelectorOp::not_in:
            return "notin";
        case SelectorOp::exists:
            return "";
        case SelectorOp::not_exists:
            return "!";
        case SelectorOp::greater:
            return ">";
        case SelectorOp::less:
            return "<";
    }
    return "";
}

// What Kubernetes checks when it makes a requirement, whether from text or from a LabelSelector.
Result<void> check(const Requirement& requirement) {
    if (auto rule = broken_qualified_name_rule(requirement.key)) {
        return fail(Errc::invalid,
                    fmt::format("key: Invalid value: {}: {}", shown(std::string_view(requirement.key)), *rule));
    }
    const std::size_t count = requirement.values.size();
    switch (requirement.op) {
        case SelectorOp::in:
        case SelectorOp::not_in:
            if (count == 0) {
                return fail(Errc::invalid,
                            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
            }
            break;
        case SelectorOp::equals:
        case SelectorOp::not_equals:
            if (count != 1) {
                return fail(Errc::invalid,
                            "values: Invalid value: []: exact-match compatibility requires one single value");
            }
            break;
        case SelectorOp::exists:
        case SelectorOp::not_exists:
            if (count != 0) {
                return fail(Errc::invalid,
                            "values: Invalid value: []: values set must be empty for exists and does not exist");
            }
            break;
        case SelectorOp::greater:
        case SelectorOp::less:
            if (count != 1 || !parse_int(requirement.values.front())) {
                return fail(
                    Errc::invalid,
                    fmt::format("values[0]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer",
                                shown(count == 0 ? std::string_view{} : std::string_view(requirement.values[0]))));
            }
            break;
    }
    if (count > max_values)
        return fail(Errc::too_large, fmt::format("a requirement has at most {} values", max_values));
    for (std::size_t i = 0; i < count; ++i) {
        if (auto rule = broken_label_value_rule(requirement.values[i])) {
            return fail(Errc::invalid, fmt::format("values[{}][{}]: Invalid value: {}: {}", i, requirement.key,
                                                   shown(std::string_view(requirement.values[i])), *rule));
        }
    }
    return {};
}

class LabelParser {
public:
    explicit LabelParser(std::string_view text) : lexer_(text) {}

    Result<std::vector<Requirement>> parse() {
        std::vector<Requirement> out;
        if (lexer_.token() == Token::end) return out;
        if (lexer_.token() != Token::identifier && lexer_.token() != Token::not_) {
            return fail(Errc::invalid, found("!, identifier, or 'end of string'"));
        }
        while (true) {
            if (out.size() == max_requirements) {
                return fail(Errc::too_large, fmt::format("a selector has at most {} requirements", max_requirements));
            }
            auto one = requirement();
            if (!one) return fail(std::move(one.error()));
            if (auto fine = check(*one); !fine) {
                return fail(Errc::invalid, fmt::format("unable to parse requirement: {}", fine.error().message));
            }
            out.push_back(std::move(*one));
            if (lexer_.token() == Token::end) return out;
            if (lexer_.token() != Token::comma) return fail(Errc::invalid, found("',' or 'end of string'"));
            lexer_.advance();
            if (lexer_.token() != Token::identifier && lexer_.token() != Token::not_) {
                return fail(Errc::invalid, fmt::format("found '{}', expected: identifier after ','", lexer_.literal()));
            }
        }
    }

private:
    [[nodiscard]] std::string found(std::string_view expected) const {
        return fmt::format("found '{}', expected: {}", lexer_.literal(), expected);
    }

    Result<Requirement> requirement() {
        Requirement out;
        if (lexer_.token() == Token::not_) {
            out.op = SelectorOp::not_exists;
            lexer_.advance();
        }
        if (lexer_.token() != Token::identifier) return unparsable(lexer_.literal(), "identifier");
        out.key = lexer_.literal();
        lexer_.advance();
        if (out.op == SelectorOp::not_exists) return out;
        if (lexer_.token() == Token::end || lexer_.token() == Token::comma) {
            out.op = SelectorOp::exists;
            return out;
        }
        switch (lexer_.operator_token()) {
            case Token::in:
                out.op = SelectorOp::in;
                break;
            case Token::not_in:
                out.op = SelectorOp::not_in;
                break;
            case Token::equals:
            case Token::double_equals:
                out.op = SelectorOp::equals;
                break;
            case Token::not_equals:
                out.op = SelectorOp::not_equals;
                break;
            case Token::greater:
                out.op = SelectorOp::greater;
                break;
            case Token::less:
                out.op = SelectorOp::less;
                break;
            case Token::end:
            case Token::identifier:
            case Token::comma:
            case Token::open:
            case Token::close:
            case Token::not_:
                return unparsable(lexer_.literal(), "in, notin, =, ==, !=, gt, lt");
        }
        lexer_.advance();
        const bool listed = out.op == SelectorOp::in || out.op == SelectorOp::not_in;
        auto values = listed ? value_list() : single_value();
        if (!values) return fail(std::move(values.error()));
        out.values = std::move(*values);
        return out;
    }

    // Nothing there is the empty string: "a=" and "a=,b".
    Result<std::vector<std::string>> single_value() {
        if (lexer_.token() == Token::end || lexer_.token() == Token::comma) return std::vector<std::string>{""};
        if (lexer_.token() != Token::identifier) return unparsable(lexer_.literal(), "identifier");
        std::vector<std::string> out{std::string(lexer_.literal())};
        lexer_.advance();
        return out;
    }

    // "(x,y)"; "(x,)" has an empty string in it, "()" has nothing. Sorted, as Kubernetes keeps a set.
    Result<std::vector<std::string>> value_list() {
        if (lexer_.token() != Token::open) return unparsable(lexer_.literal(), "'('");
        lexer_.advance();
        std::vector<std::string> out;
        if (lexer_.token() == Token::close) {
            lexer_.advance();
            return out;
        }
        while (true) {
            if (out.size() > max_values) {
                return fail(Errc::too_large, fmt::format("a requirement has at most {} values", max_values));
            }
            if (lexer_.token() == Token::identifier) {
                out.emplace_back(lexer_.literal());
                lexer_.advance();
            } else {
                out.emplace_back();
            }
            if (lexer_.token() == Token::close) break;
            if (lexer_.token() != Token::comma) return unparsable(lexer_.literal(), "',', ')' or identifier");
            lexer_.advance();
        }
        lexer_.advance();
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }

    Lexer lexer_;
};

bool contains(const std::vector<std::string>& values, std::string_view value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

// `value` is null if there is no such label or field.
bool holds(const Requirement& requirement, const std::string_view* value) {
    switch (requirement.op) {
        case SelectorOp::equals:
        case SelectorOp::in:
            return value != nullptr && contains(requirement.values, *value);
        case SelectorOp::not_equals:
        case SelectorOp::not_in:
            return value == nullptr || !contains(requirement.values, *value);
        case SelectorOp::exists:
            return value != nullptr;
        case SelectorOp::not_exists:
            return value == nullptr;
        case SelectorOp::greater:
        case SelectorOp::less: {
            if (value == nullptr) return false;
            const auto number = parse_int(*value);
            const auto bound = parse_int(requirement.values.front());
            if (!number || !bound) return false;
            return requirement.op == SelectorOp::greater ? *number > *bound : *number < *bound;
        }
    }
    return false;
}

// Field selectors escape , = and \ by a backslash. Nothing for a broken escape.
Result<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        ++i;
        if (i == text.size() || std::string_view("\\,=").find(text[i]) == std::string_view::npos) {
            return fail(Errc::invalid, fmt::format("invalid field selector: invalid escape sequence in {}", text));
        }
        out += text[i];
    }
    return out;
}

// Where the next `separator` stands that is not escaped.
std::size_t find_plain(std::string_view text, char separator) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == separator) {
            return i;
        }
    }
    return std::string_view::npos;
}

Result<Requirement> parse_field_term(std::string_view term) {
    const std::size_t at = term.find_first_of("=!");
    if (at == std::string_view::npos || (term[at] == '!' && (at + 1 == term.size() || term[at + 1] != '='))) {
        return fail(Errc::invalid, fmt::format("invalid selector: '{}'; can't understand '{}'", term, term));
    }
    Requirement out;
    out.op = term[at] == '!' ? SelectorOp::not_equals : SelectorOp::equals;
    const bool two = term[at] == '!' || (at + 1 < term.size() && term[at + 1] == '=');
    out.key = trim(term.substr(0, at));
    auto value = unescaped(term.substr(at + (two ? 2 : 1)));
    if (!value) return fail(std::move(value.error()));
    out.values.push_back(std::move(*value));
    return out;
}

bool selectable(std::string_view field, const Kind& kind) {
    return field == "metadata.name" || field == "metadata.namespace" || contains(kind.selectable_fields, field);
}

// A field that is absent reads as "", as Kubernetes has it.
std::string field_text(const json::Value& object, std::string_view path) {
    const json::Value* field = json::find(object, path);
    if (field == nullptr) return {};
    if (field->is_string()) return std::string(json::view(field->get_string()));
    if (field->is_bool()) return field->get_bool() ? "true" : "false";
    return field->is_int64() ? std::to_string(field->get_int64()) : std::string();
}

}  // namespace

Result<Selector> Selector::parse_labels(std::string_view text) {
    auto requirements = LabelParser(text).parse();
    if (!requirements) return fail(std::move(requirements.error()));
    Selector out;
    out.requirements_ = std::move(*requirements);
    return out;
}

Result<Selector> Selector::from(const LabelSelector& selector) {
    Selector out;
    for (const auto& [key, value] : selector.match_labels) {
        out.requirements_.push_back({key, SelectorOp::equals, {value}});
    }
    for (const LabelSelectorRequirement& expression : selector.match_expressions) {
        Requirement one{expression.key, SelectorOp::in, expression.values};
        if (expression.op == "In") {
            one.op = SelectorOp::in;
        } else if (expression.op == "NotIn") {
            one.op = SelectorOp::not_in;
        } else if (expression.op == "Exists") {
            one.op = SelectorOp::exists;
        } else if (expression.op == "DoesNotExist") {
            one.op = SelectorOp::not_exists;
        } else {
            return fail(Errc::invalid, "matchExpressions.operator",
                        fmt::format("\"{}\" is not a valid label selector operator", expression.op));
        }
        std::sort(one.values.begin(), one.values.end());
        out.requirements_.push_back(std::move(one));
    }
    if (out.requirements_.size() > max_requirements) {
        return fail(Errc::too_large, fmt::format("a selector has at most {} requirements", max_requirements));
    }
    for (const Requirement& requirement : out.requirements_) {
        if (auto fine = check(requirement); !fine) return fail(std::move(fine.error()));
    }
    return out;
}

Result<Selector> Selector::parse_fields(std::string_view text, const Kind& kind) {
    Selector out;
    while (!text.empty()) {
        const std::size_t comma = find_plain(text, ',');
        const std::string_view term = text.substr(0, comma);
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
        if (trim(term).empty()) continue;
        if (out.requirements_.size() == max_requirements) {
            return fail(Errc::too_large, fmt::format("a selector has at most {} requirements", max_requirements));
        }
        auto one = parse_field_term(term);
        if (!one) return fail(std::move(one.error()));
        if (!selectable(one->key, kind)) {
            return fail(Errc::invalid, fmt::format("field label not supported: {}", one->key));
        }
        out.requirements_.push_back(std::move(*one));
    }
    return out;
}

bool Selector::matches_labels(const json::Value& object) const {
    if (requirements_.empty()) return true;
    const json::Value* labels = json::find(object, "metadata.labels");
    const json::Object* members = labels != nullptr ? labels->if_object() : nullptr;
    for (const Requirement& requirement : requirements_) {
        const json::Value* label = members != nullptr ? members->if_contains(requirement.key) : nullptr;
        std::string_view value;
        const bool there = label != nullptr && label->is_string();
        if (there) value = json::view(label->get_string());
        if (!holds(requirement, there ? &value : nullptr)) return false;
    }
    return true;
}

bool Selector::matches_labels(const std::map<std::string, std::string>& labels) const {
    return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& requirement) {
        const auto label = labels.find(requirement.key);
        if (label == labels.end()) return holds(requirement, nullptr);
        const std::string_view value = label->second;
        return holds(requirement, &value);
    });
}

bool Selector::matches_fields(const json::Value& object) const {
    return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& requirement) {
        const auto text = field_text(object, requirement.key);
        const std::string_view value = text;
        return holds(requirement, &value);
    });
}

bool Selector::matches_fields(const std::map<std::string, std::string>& fields) const {
    return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& requirement) {
        const auto field = fields.find(requirement.key);
        const std::string_view value = field != fields.end() ? std::string_view(field->second) : std::string_view();
        return holds(requirement, &value);
    });
}

Selectable selectable_of(const json::Value& object, const Kind& kind) {
    Selectable out;
    const json::Value* labels = json::find(object, "metadata.labels");
    if (const auto* members = labels != nullptr ? labels->if_object() : nullptr) {
        for (const auto& [key, label] : *members) {
            if (label.is_string()) out.labels.emplace(key, json::view(label.get_string()));
        }
    }
    for (const auto* field : {"metadata.name", "metadata.namespace"})
        out.fields.emplace(field, field_text(object, field));
    for (const auto& field : kind.selectable_fields) out.fields.emplace(field, field_text(object, field));
    return out;
}

std::optional<std::string> Selector::pinned(std::string_view key) const {
    for (const Requirement& requirement : requirements_) {
        const bool exact = requirement.op == SelectorOp::equals || requirement.op == SelectorOp::in;
        if (exact && requirement.key == key && requirement.values.size() == 1) return requirement.values.front();
    }
    return std::nullopt;
}

std::string Selector::text() const {
    std::string out;
    for (const Requirement& requirement : requirements_) {
        if (!out.empty()) out += ',';
        switch (requirement.op) {
            case SelectorOp::exists:
                out += requirement.key;
                break;
            case SelectorOp::not_exists:
                out += "!" + requirement.key;
                break;
            case SelectorOp::equals:
            case SelectorOp::not_equals:
            case SelectorOp::greater:
            case SelectorOp::less:
                out += fmt::format("{}{}{}", requirement.key, op_text(requirement.op), requirement.values.front());
                break;
            case SelectorOp::in:
            case SelectorOp::not_in:
                out +=
                    fmt::format("{} {} ({})", requirement.key, op_text(requirement.op), join(requirement.values, ","));
                break;
        }
    }
    return out;
}

}  // namespace fairlead::resource
