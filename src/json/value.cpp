// Parsing, writing and walking JSON values. Parsing drives Boost's basic_parser with a handler of our own, because the
// stock one rounds decimals wrongly in the last place (1.81) and lets 1e999 become infinity.
#include "json/value.h"

#include <fmt/core.h>

#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <system_error>

#include "json/duplicates.h"
#include "json/numbers.h"

namespace fairlead::json {
namespace {

namespace bj = boost::json;

// Builds the value from the parser's events. Copies strings straight into their final place.
struct Builder {
    static constexpr std::size_t max_object_size = bj::object::max_size();
    static constexpr std::size_t max_array_size = bj::array::max_size();
    static constexpr std::size_t max_key_size = bj::string::max_size();
    static constexpr std::size_t max_string_size = bj::string::max_size();

    Builder(unsigned char* buffer, std::size_t size, std::size_t max_values)
        : stack({}, buffer, size), values_left(max_values) {
        stack.reset();
    }

    bj::value_stack stack;
    std::size_t values_left;
    std::size_t members = 0;  // as they stand in the text
    bool out_of_range = false, too_many = false;

    bool count(bj::error_code& error) {
        if (values_left-- > 0) return true;
        too_many = true;
        error = bj::error::syntax;
        return false;
    }

    bool on_document_begin(bj::error_code&) { return true; }
    bool on_document_end(bj::error_code&) { return true; }
    bool on_object_begin(bj::error_code& error) { return count(error); }
    bool on_object_end(std::size_t n, bj::error_code&) {
        stack.push_object(n);
        members += n;
        return true;
    }
    bool on_array_begin(bj::error_code& error) { return count(error); }
    bool on_array_end(std::size_t n, bj::error_code&) {
        stack.push_array(n);
        return true;
    }
    bool on_key_part(bj::string_view text, std::size_t, bj::error_code&) {
        stack.push_chars(text);
        return true;
    }
    bool on_key(bj::string_view text, std::size_t, bj::error_code&) {
        stack.push_key(text);
        return true;
    }
    bool on_string_part(bj::string_view text, std::size_t, bj::error_code&) {
        stack.push_chars(text);
        return true;
    }
    bool on_string(bj::string_view text, std::size_t, bj::error_code& error) {
        stack.push_string(text);
        return count(error);
    }
    bool on_number_part(bj::string_view, bj::error_code&) { return true; }
    bool on_int64(std::int64_t number, bj::string_view, bj::error_code& error) {
        stack.push_int64(number);
        return count(error);
    }
    bool on_uint64(std::uint64_t number, bj::string_view, bj::error_code& error) {
        stack.push_uint64(number);
        return count(error);
    }
    // The whole text is given at once, so `text` is the whole number.
    bool on_double(double, bj::string_view text, bj::error_code& error) {
        const auto number = parse_double({text.data(), text.size()});
        if (!number) {
            out_of_range = true;
            error = bj::error::syntax;
            return false;
        }
        stack.push_double(*number);
        return count(error);
    }
    bool on_bool(bool value, bj::error_code& error) {
        stack.push_bool(value);
        return count(error);
    }
    bool on_null(bj::error_code& error) {
        stack.push_null();
        return count(error);
    }
    bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
    bool on_comment(bj::string_view, bj::error_code&) { return true; }
};

// Boost calls what follows "\ud800" a syntax error unless it is another escape.
bool after_high_surrogate(std::string_view text, std::size_t offset) {
    constexpr std::size_t escape = 6;
    for (const std::size_t end : {offset, offset - 1}) {  // the parser may have looked at one more
        if (offset < escape + 1 || end > text.size()) continue;
        const auto before = text.substr(end - escape, escape);
        if (before.starts_with("\\ud") || before.starts_with("\\uD")) {
            return std::string_view("89abAB").find(before[3]) != std::string_view::npos;
        }
    }
    return false;
}

std::string describe(const bj::error_code& error, std::string_view text, std::size_t offset) {
    if (text.starts_with("\xef\xbb\xbf")) return "there is a byte order mark, which JSON must not have (RFC 8259, 8.1)";
    if (error == bj::error::illegal_leading_surrogate || error == bj::error::illegal_trailing_surrogate ||
        error == bj::error::expected_utf16_escape ||
        (error == bj::error::syntax && after_high_surrogate(text, offset))) {
        return "a surrogate stands alone: \\ud800..\\udbff and \\udc00..\\udfff come in pairs (RFC 8259, 7)";
    }
    if (error == bj::error::incomplete) return "the text ends too early";
    if (error == bj::error::extra_data) return "there is something after the value";
    if (error == bj::error::too_deep) return fmt::format("nested deeper than {}", max_depth);
    if (error == bj::error::syntax) return "syntax error";
    return error.message();
}

Error parse_error(std::string_view text, std::size_t offset, const std::string& what) {
    const auto before = text.substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto start = before.rfind('\n');
    const auto column = 1 + (start == std::string_view::npos ? offset : offset - start - 1);
    return Error{Errc::invalid, {}, fmt::format("invalid JSON at line {} column {}: {}", line, column, what)};
}

template <class V>
V* find_step_by_step(V& root, std::string_view path) {
    V* at = &root;
    while (!path.empty()) {
        const auto dot = path.find('.');
        const auto step = path.substr(0, dot);
        auto* object = at->if_object();
        at = object == nullptr ? nullptr : object->if_contains({step.data(), step.size()});
        if (at == nullptr) return nullptr;
        path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    }
    return at;
}

bool same_number(const Value& a, const Value& b) {
    if (a.is_double() && b.is_double()) return a.get_double() == b.get_double();
    if (a.is_double() || b.is_double()) {
        const double real = a.is_double() ? a.get_double() : b.get_double();
        const Value& whole = a.is_double() ? b : a;
        if (whole.is_int64()) {
            const auto integer = to_int64(real);
            return integer && *integer == whole.get_int64();
        }
        const auto integer = to_uint64(real);
        return integer && *integer == whole.get_uint64();
    }
    return a == b;  // Boost compares int64 and uint64 by value
}

}  // namespace

namespace {

std::size_t count_members(const Value& value) {
    std::size_t count = 0;
    if (const auto* object = value.if_object()) {
        count = object->size();
        for (const auto& member : *object) count += count_members(member.value());
    } else if (const auto* array = value.if_array()) {
        for (const auto& item : *array) count += count_members(item);
    }
    return count;
}

Result<Value> parse_counting(std::string_view text, std::size_t max_values, std::size_t& members) {
    // Enough for the value stack and the parser state of a usual object, so that small texts cost no extra allocation.
    std::array<unsigned char, 4096> buffer;  // NOLINT: deliberately not cleared
    bj::parse_options options;
    options.max_depth = max_depth;
    bj::error_code error;
    try {
        bj::basic_parser<Builder> parser(options, buffer.data(), buffer.size(), max_values);
        const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
        if (parser.handler().out_of_range) return fail(parse_error(text, used, "number out of range"));
        if (parser.handler().too_many) {
            auto refusal = parse_error(text, used, fmt::format("more than {} values", max_values));
            refusal.code = Errc::too_large;
            return fail(std::move(refusal));
        }
        if (!error && used < text.size()) error = bj::error::extra_data;
        if (error) return fail(parse_error(text, used, describe(error, text, used)));
        members = parser.handler().members;
        return parser.handler().stack.release();
    } catch (const std::exception& exception) {  // bad_alloc, length_error
        return fail(Errc::internal, fmt::format("cannot parse JSON: {}", exception.what()));
    }
}

}  // namespace

Result<Value> parse(std::string_view text, std::size_t max_values) {
    std::size_t members = 0;
    return parse_counting(text, max_values, members);
}

Result<Value> parse(std::string_view text, std::size_t max_values, std::vector<std::string>& duplicates) {
    std::size_t members = 0;
    auto value = parse_counting(text, max_values, members);
    // Counting is cheap, and nearly nobody repeats a member: only then the text is read again to say which.
    if (value && count_members(*value) != members) duplicates = duplicate_members(text);
    return value;
}

bool equal(const Value& a, const Value& b) {
    if (a.is_number() && b.is_number()) return same_number(a, b);
    if (a.kind() != b.kind()) return false;
    if (a.is_object()) {
        const auto& left = a.get_object();
        const auto& right = b.get_object();
        if (left.size() != right.size()) return false;
        return std::all_of(left.begin(), left.end(), [&](const auto& member) {
            const auto* other = right.if_contains(member.key());
            return other != nullptr && equal(member.value(), *other);
        });
    }
    if (a.is_array()) {
        const auto& left = a.get_array();
        const auto& right = b.get_array();
        return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                          [](const Value& x, const Value& y) { return equal(x, y); });
    }
    return a == b;
}

const Value* find(const Value& root, std::string_view dotted_path) { return find_step_by_step(root, dotted_path); }
Value* find(Value& root, std::string_view dotted_path) { return find_step_by_step(root, dotted_path); }

std::string_view string_at(const Value& root, std::string_view dotted_path) {
    const Value* at = find(root, dotted_path);
    return at != nullptr && at->is_string() ? view(at->get_string()) : std::string_view{};
}

std::optional<std::int64_t> int_at(const Value& root, std::string_view dotted_path) {
    const Value* at = find(root, dotted_path);
    if (at == nullptr) return std::nullopt;
    if (at->is_int64()) return at->get_int64();
    if (at->is_uint64() && at->get_uint64() <= INT64_MAX) return static_cast<std::int64_t>(at->get_uint64());
    if (at->is_double()) return to_int64(at->get_double());
    return std::nullopt;
}

bool bool_at(const Value& root, std::string_view dotted_path) {
    const Value* at = find(root, dotted_path);
    return at != nullptr && at->is_bool() && at->get_bool();
}

void set_at(Value& root, std::string_view dotted_path, Value value) {
    Value* at = &root;
    while (!dotted_path.empty()) {
        const auto dot = dotted_path.find('.');
        const auto step = dotted_path.substr(0, dot);
        if (!at->is_object()) at->emplace_object();
        at = &at->get_object()[{step.data(), step.size()}];
        dotted_path = dot == std::string_view::npos ? std::string_view{} : dotted_path.substr(dot + 1);
    }
    *at = std::move(value);
}

void erase_at(Value& root, std::string_view dotted_path) {
    const auto dot = dotted_path.rfind('.');
    Value* parent = dot == std::string_view::npos ? &root : find(root, dotted_path.substr(0, dot));
    const auto last = dot == std::string_view::npos ? dotted_path : dotted_path.substr(dot + 1);
    if (parent == nullptr || !parent->is_object()) return;
    // stable_erase: what is left keeps its order, so that output stays the same.
    auto& object = parent->get_object();
    if (const auto it = object.find({last.data(), last.size()}); it != object.end()) object.stable_erase(it);
}

}  // namespace fairlead::json
