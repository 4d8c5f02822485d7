#include "cli/manifest.h"

#include <fmt/core.h>

#include <filesystem>
#include <istream>
#include <iterator>

#include "base/files.h"
#include "base/text.h"

namespace fairlead::cli {
namespace {

namespace fs = std::filesystem;

// A file may hold many objects; each of them is held to the server's limit of 3 MiB by the server.
constexpr json::YamlLimits file_limits{.max_bytes = 64UL * 1024 * 1024, .max_nodes = 10'000'000};

bool is_manifest_file(const fs::path& path) {
    const auto extension = path.extension();
    return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

Result<std::vector<fs::path>> files_of(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return std::vector{path};
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        if (is_manifest_file(at->path()) && at->is_regular_file(ignored)) files.push_back(at->path());
    }
    if (error) return fail(Errc::internal, path.string(), error.message());
    if (files.empty()) return fail(Errc::not_found, path.string(), "the folder holds no .yaml, .yml or .json file");
    std::sort(files.begin(), files.end());
    return files;
}

// Why a required text is not there; YAML turns some words into other things behind a person's back.
std::string missing(const json::Value* value) {
    if (value == nullptr || value->is_null()) return "Required value";
    const auto* hint = value->is_bool() ? " (YAML reads y, n, yes, no, on and off as booleans: quote it)" : "";
    if (value->is_string()) return "Required value";
    return fmt::format("Invalid value: {}: must be a string{}", json::serialize(*value).substr(0, 60), hint);
}

void check(Manifest manifest, Manifests& out) {
    for (const auto* field : {"apiVersion", "kind", "metadata.name"}) {
        if (!json::string_at(manifest.object, field).empty()) continue;
        const bool named = !json::string_at(manifest.object, "metadata.generateName").empty();
        if (named && std::string_view(field) == "metadata.name") continue;
        const auto why = missing(json::find(manifest.object, field));
        out.errors.push_back(fmt::format("{}: {}: {}", manifest.where(field), field, why));
        return;
    }
    out.objects.push_back(std::move(manifest));
}

void add_document(json::YamlDocument document, std::size_t number, const std::string& source, Manifests& out) {
    const auto text = std::make_shared<const json::YamlDocument>(std::move(document));
    Manifest whole{.object = text->value, .source = source, .document = number, .text = text, .prefix = {}};
    if (!whole.object.is_object()) {
        out.errors.push_back(fmt::format("{}: an object is expected, not {}", whole.where(),
                                         json::serialize(whole.object).substr(0, 60)));
        return;
    }
    const auto* items = json::find(text->value, "items");
    if (!whole.kind().ends_with("List") || items == nullptr || !items->is_array()) {
        check(std::move(whole), out);
        return;
    }
    const auto& list = items->get_array();
    for (std::size_t i = 0; i < list.size(); ++i) {
        Manifest item{.object = list[i],
                      .source = source,
                      .document = number,
                      .text = text,
                      .prefix = fmt::format("items[{}]", i)};
        check(std::move(item), out);
    }
}

// The documents by their "---" lines, each behind as many line ends as stand before it, so that line numbers hold.
std::vector<std::string> split_documents(std::string_view text) {
    std::vector<std::string> parts;
    std::size_t lines = 0;
    std::string part;
    for (const auto line : split(text, '\n')) {
        if (line.starts_with("---") && (line.size() == 3 || line[3] == ' ' || line[3] == '\r')) {
            parts.push_back(std::exchange(part, std::string(lines, '\n')));
        }
        part.append(line);
        part += '\n';
        ++lines;
    }
    parts.push_back(std::move(part));
    return parts;
}

}  // namespace

std::string Manifest::where(std::string_view field) const {
    std::string path = prefix;
    if (!path.empty() && !field.empty()) path += '.';
    path += field;
    return fmt::format("{}, document {}, line {}", source, document, text ? text->line_of(path) : 1);
}

Manifests parse_manifests(std::string_view text, const std::string& source) {
    Manifests out;
    std::size_t number = 0;
    if (auto documents = json::parse_yaml(text, file_limits)) {
        for (auto& document : *documents) add_document(std::move(document), ++number, source, out);
        return out;
    }
    for (const auto& part : split_documents(text)) {
        auto documents = json::parse_yaml(part, file_limits);
        if (!documents) {
            out.errors.push_back(fmt::format("{}, document {}: {}", source, ++number, documents.error().text()));
            continue;
        }
        for (auto& document : *documents) add_document(std::move(document), ++number, source, out);
    }
    return out;
}

Manifests read_manifests(const std::vector<std::string>& paths, std::istream& in) {
    Manifests out;
    const auto add = [&](std::string_view text, const std::string& source) {
        auto parsed = parse_manifests(text, source);
        std::move(parsed.objects.begin(), parsed.objects.end(), std::back_inserter(out.objects));
        std::move(parsed.errors.begin(), parsed.errors.end(), std::back_inserter(out.errors));
    };
    for (const auto& path : paths) {
        if (path == "-") {
            add(std::string(std::istreambuf_iterator<char>(in), {}), "standard input");
            continue;
        }
        const auto files = files_of(path);
        if (!files) {
            out.errors.push_back(files.error().text());
            continue;
        }
        for (const auto& file : *files) {
            const auto text = read_file(file);
            if (text) {
                add(*text, file.string());
            } else {
                out.errors.push_back(text.error().text());
            }
        }
    }
    return out;
}

void sort_for_apply(std::vector<Manifest>& manifests) {
    std::stable_partition(manifests.begin(), manifests.end(), [](const Manifest& manifest) {
        return manifest.kind() == "Namespace" && manifest.api_version() == "v1";
    });
}

}  // namespace fairlead::cli
