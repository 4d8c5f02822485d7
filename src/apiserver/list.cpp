#include "apiserver/list.h"

#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "apiserver/table.h"

namespace fairlead::apiserver {

namespace {
constexpr std::size_t slice_bytes = 64UL * 1024;
constexpr std::size_t slice_objects = 256;  // looked at in one pull; with a selector each of them is parsed
}  // namespace

ListWriter::ListWriter(const resource::Kind& kind, Form form, WallTime now)
    : kind_(&kind), form_(std::move(form)), now_(now), prefix_(type_prefix(kind)) {}

std::string ListWriter::opening(store::Revision revision, std::string_view token,
                                std::optional<std::uint64_t> remaining) const {
    std::string out = R"({"kind":")";
    switch (form_.shape) {
        case Shape::object:
            out += kind_->name + R"(List","apiVersion":")" + kind_->api_version();
            break;
        case Shape::table:
            out += R"(Table","apiVersion":"meta.k8s.io/)" + form_.meta_version;
            break;
        case Shape::partial_metadata:
            out += R"(PartialObjectMetadataList","apiVersion":"meta.k8s.io/)" + form_.meta_version;
            break;
    }
    out += fmt::format(R"(","metadata":{{"resourceVersion":"{}")", revision);
    if (!token.empty()) out += fmt::format(R"(,"continue":"{}")", token);
    if (remaining) out += fmt::format(R"(,"remainingItemCount":{})", *remaining);
    out += "},";
    if (form_.shape == Shape::table)
        out += R"("columnDefinitions":)" + column_definitions(*kind_) + R"(,"rows":[)";
    else
        out += R"("items":[)";
    return out;
}

Outcome<void> ListWriter::add(const store::Object& object, std::string& out) const {
    if (form_.shape == Shape::object) {
        append_list_item(object, *kind_, prefix_, out);
        return {};
    }
    const auto value = parse_object(object);
    if (!value) return refuse(value.error());
    if (form_.shape == Shape::table) {
        append_row(*value, *kind_, form_, now_, out);
    } else {
        append_partial_metadata(*value, form_, out);
    }
    return {};
}

net::StreamBody::Next ListStream::pull(std::string& out) {
    const auto before = out.size();
    if (!plan_.begun.empty()) {
        out += std::exchange(plan_.begun, {});
        return Next::data;
    }
    std::size_t examined = 0;
    bool all = true, broken = false;
    plan_.snapshot.scan(plan_.filter.prefix(), plan_.from, [&](const store::ObjectRef& object) {
        if (!plan_.to.empty() && object->name() >= plan_.to) return false;
        if (out.size() - before >= slice_bytes || ++examined > slice_objects) {
            plan_.from = object->name();
            return all = false;
        }
        if (!plan_.filter.matches(*object)) return true;
        out += ',';
        broken = !plan_.writer.add(*object, out);
        return !broken;
    });
    // The head has gone out already: text that stops in the middle is how the client learns of a damaged object.
    if (broken) return Next::end;
    if (all) {
        out += ListWriter::closing;
        return Next::end;
    }
    // Nothing matched in this slice; white space between items is allowed, and asks to be pulled again.
    if (out.size() == before) out += ' ';
    return Next::data;
}

}  // namespace fairlead::apiserver
