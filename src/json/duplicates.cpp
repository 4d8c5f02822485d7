// A pass over a JSON text that keeps names alone. Runs only for texts that are known to repeat one.
#include "json/duplicates.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <set>

#include "json/value.h"

namespace fairlead::json {
namespace {

namespace bj = boost::json;

// One open object or list.
struct Level {
    bool is_array = false;
    std::size_t index = 0;        // list: of the item that comes next
    std::string name;             // object: the member that is being read
    std::set<std::string> names;  // object: those that were seen
};

struct Finder {
    static constexpr std::size_t max_object_size = bj::object::max_size();
    static constexpr std::size_t max_array_size = bj::array::max_size();
    static constexpr std::size_t max_key_size = bj::string::max_size();
    static constexpr std::size_t max_string_size = bj::string::max_size();

    std::vector<Level> levels;
    std::vector<std::string> found;
    std::string part;  // of a name that comes in pieces

    [[nodiscard]] std::string path() const {
        std::string out;
        for (const auto& level : levels) {
            if (level.is_array) {
                out += "[" + std::to_string(level.index) + "]";
            } else {
                if (!out.empty()) out += '.';
                out += level.name;
            }
        }
        return out;
    }
    void open(bool is_array) { levels.push_back({is_array, 0, {}, {}}); }
    bool close() {
        levels.pop_back();
        return value_done();
    }
    bool value_done() {
        if (!levels.empty() && levels.back().is_array) ++levels.back().index;
        return true;
    }

    bool on_document_begin(bj::error_code&) { return true; }
    bool on_document_end(bj::error_code&) { return true; }
    bool on_object_begin(bj::error_code&) { return open(false), true; }
    bool on_object_end(std::size_t, bj::error_code&) { return close(); }
    bool on_array_begin(bj::error_code&) { return open(true), true; }
    bool on_array_end(std::size_t, bj::error_code&) { return close(); }
    bool on_key_part(bj::string_view text, std::size_t, bj::error_code&) {
        part.append(text.data(), text.size());
        return true;
    }
    bool on_key(bj::string_view text, std::size_t, bj::error_code&) {
        part.append(text.data(), text.size());
        auto& level = levels.back();
        level.name = std::exchange(part, {});
        if (level.names.insert(level.name).second || found.size() >= max_duplicates) return true;
        auto here = path();
        if (std::find(found.begin(), found.end(), here) == found.end()) found.push_back(std::move(here));
        return true;
    }
    bool on_string_part(bj::string_view, std::size_t, bj::error_code&) { return true; }
    bool on_string(bj::string_view, std::size_t, bj::error_code&) { return value_done(); }
    bool on_number_part(bj::string_view, bj::error_code&) { return true; }
    bool on_int64(std::int64_t, bj::string_view, bj::error_code&) { return value_done(); }
    bool on_uint64(std::uint64_t, bj::string_view, bj::error_code&) { return value_done(); }
    bool on_double(double, bj::string_view, bj::error_code&) { return value_done(); }
    bool on_bool(bool, bj::error_code&) { return value_done(); }
    bool on_null(bj::error_code&) { return value_done(); }
    bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
    bool on_comment(bj::string_view, bj::error_code&) { return true; }
};

}  // namespace

std::vector<std::string> duplicate_members(std::string_view text) {
    bj::parse_options options;
    options.max_depth = max_depth;
    bj::basic_parser<Finder> parser(options);
    bj::error_code error;
    parser.write_some(false, text.data(), text.size(), error);
    return std::move(parser.handler().found);
}

}  // namespace fairlead::json
