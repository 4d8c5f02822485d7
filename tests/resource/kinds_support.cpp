#include "resource/kinds_support.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/text.h"
#include "paths/paths.h"

namespace fairlead::resource {

const Kinds& all_kinds() {
    static const Kinds kinds = make_kinds();
    return kinds;
}

const Kind& kind_of(std::string_view plural) {
    for (const auto& kind : all_kinds().all()) {
        if (kind.plural == plural) return kind;
    }
    ADD_FAILURE() << "no kind " << plural;
    return all_kinds().all().front();
}

std::filesystem::path source_root() { return paths::sources(); }

std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file);
    EXPECT_TRUE(in.good()) << "cannot open " << file;
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

std::vector<json::YamlDocument> read_yaml(const std::filesystem::path& file) {
    auto documents = json::parse_yaml(read_text(file));
    EXPECT_TRUE(documents) << file << ": " << (documents ? "" : documents.error().text());
    return documents ? std::move(*documents) : std::vector<json::YamlDocument>{};
}

std::vector<json::Value> samples_of(std::string_view plural) {
    std::vector<json::Value> samples;
    const auto file = paths::test_data() / "kinds" / fmt::format("{}.yaml", plural);
    for (auto& document : read_yaml(file)) samples.push_back(std::move(document.value));
    EXPECT_FALSE(samples.empty()) << file;
    return samples;
}

void change(json::Value& root, std::string_view path, const json::Value& value) {
    json::Value* at = &root;
    std::vector<std::string> steps;
    for (const auto part : split(path, '.')) {
        const auto bracket = part.find('[');
        steps.emplace_back(part.substr(0, bracket));
        if (bracket != std::string_view::npos) steps.emplace_back(part.substr(bracket));
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto& step = steps[i];
        const bool last = i + 1 == steps.size();
        if (step.front() == '[') {
            auto& list = at->as_array();
            const auto index = static_cast<std::size_t>(*parse_int(std::string_view(step).substr(1, step.size() - 2)));
            if (index == list.size()) list.push_back(nullptr);
            at = &list[index];
        } else if (last && value.is_null()) {
            at->as_object().erase(step);
            return;
        } else {
            at = &at->as_object()[step];
        }
    }
    *at = value;
}

std::string text_of_errors(const FieldErrors& errors) {
    std::string out;
    for (const auto& error : errors) {
        out += fmt::format("\n  cause {} {}: {}", static_cast<int>(error.cause), error.field, error.message);
    }
    return out.empty() ? "none" : out;
}

void check_rule_case(const RuleCase& row) {
    const auto& kind = kind_of(row.plural);
    const auto good = samples_of(row.plural).at(row.sample);
    auto bad = good;
    auto value = json::Value(nullptr);
    if (!row.value.empty()) {
        auto parsed = json::parse(row.value);
        ASSERT_TRUE(parsed) << row.value << ": " << parsed.error().text();
        value = std::move(*parsed);
    }
    change(bad, row.path, value);
    const auto errors = validate(bad, row.update ? &good : nullptr, kind.schema);
    ASSERT_EQ(errors.size(), 1U) << "errors: " << text_of_errors(errors);
    EXPECT_EQ(errors.front().cause, row.cause) << text_of_errors(errors);
    EXPECT_EQ(errors.front().field, row.field);
    EXPECT_NE(errors.front().message.find(row.message), std::string::npos) << errors.front().message;
}

}  // namespace fairlead::resource
