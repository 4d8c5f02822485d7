#include "aws/xml.h"

#include <fmt/core.h>

#include <pugixml.hpp>

#include "base/text.h"

namespace fairlead::aws {
namespace {

constexpr std::size_t max_answer_bytes = 16UL * 1024 * 1024;  // 400 balancers of a page are about 1 MB
constexpr int max_depth = 32;                                 // answers have at most ten

Result<Element> element_of(const pugi::xml_node& node, int depth) {
    if (depth > max_depth) return fail(Errc::corrupt, fmt::format("the answer is deeper than {}", max_depth));
    Element element{node.name(), std::string(trim(node.text().get())), {}};
    for (const auto& child : node.children()) {
        if (child.type() != pugi::node_element) continue;
        auto made = element_of(child, depth + 1);
        if (!made) return made;
        element.children.push_back(std::move(*made));
    }
    return element;
}

}  // namespace

const Element* Element::child(std::string_view of_name) const {
    for (const auto& each : children)
        if (each.name == of_name) return &each;
    return nullptr;
}

std::string Element::at(std::string_view of_name) const {
    const auto* found = child(of_name);
    return found == nullptr ? std::string() : found->text;
}

std::optional<std::int64_t> Element::int_at(std::string_view of_name) const { return parse_int(at(of_name)); }

const std::vector<Element>& Element::list(std::string_view of_name) const {
    static const std::vector<Element> none;
    const auto* found = child(of_name);
    return found == nullptr ? none : found->children;
}

Result<Element> parse_xml(std::string_view xml) {
    if (xml.size() > max_answer_bytes) {
        return fail(Errc::corrupt, fmt::format("an answer of {} bytes is over {}", xml.size(), max_answer_bytes));
    }
    pugi::xml_document document;
    // No doctype: entities of its own are what an attacker would define.
    constexpr unsigned flags = pugi::parse_default & ~pugi::parse_doctype;
    const auto parsed = document.load_buffer(xml.data(), xml.size(), flags, pugi::encoding_utf8);
    if (!parsed) return fail(Errc::corrupt, fmt::format("the answer is no XML: {}", parsed.description()));
    return element_of(document.document_element(), 0);
}

ServiceError parse_error(std::string_view xml) {
    ServiceError error;
    const auto document = parse_xml(xml);
    if (!document || document->name != "ErrorResponse") return error;
    const auto* said = document->child("Error");
    if (said == nullptr) return error;
    error.code = said->at("Code");
    if (auto message = said->at("Message"); !message.empty()) error.messages.push_back(std::move(message));
    return error;
}

}  // namespace fairlead::aws
