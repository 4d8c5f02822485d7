#include "elb/api.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace fairlead::elb {
namespace {

constexpr std::string_view version = "2015-12-01";
constexpr std::string_view page_size = "400";  // the most that AWS gives
constexpr std::size_t max_pages = 1'000;       // 400,000 things: a list that does not end is none
constexpr std::size_t arns_of_call = 20;       // of DescribeTags

tl::unexpected<aws::CallError> corrupt(const std::string& operation, const std::string& why) {
    return tl::unexpected(aws::CallError{{Errc::unavailable, {}, fmt::format("{}: {}", operation, why)}, {}, {}});
}

// "create", "modify", ...: the first word of the operation.
std::string metric_of(const std::string& operation) {
    std::string word(1, static_cast<char>(operation.front() - 'A' + 'a'));
    for (std::size_t i = 1; i < operation.size() && (operation[i] < 'A' || operation[i] > 'Z'); ++i)
        word += operation[i];
    return word;
}

}  // namespace

Error told(const aws::CallError& error) {
    auto made = error.error;
    if (error.code.starts_with("TooMany")) {
        made.code = Errc::too_large;
    } else if (error.code == "DuplicateLoadBalancerName") {
        made.code = Errc::conflict;
    } else if (made.code != Errc::unavailable && made.code != Errc::timeout && made.code != Errc::invalid) {
        // Gone between two calls, or not there yet: another time it is.
        made.code = Errc::unavailable;
    }
    return made;
}

ApiResult<aws::Element> Api::call(const Query& query) {
    aws::Request request{
        .operation = query.operation, .metric = metric_of(query.operation), .method = "POST", .path = "/"};
    auto fields = query.fields;
    fields.emplace_back("Action", query.operation);
    fields.emplace_back("Version", version);
    request.body = aws::canonical_query(std::move(fields));
    request.content_type = "application/x-www-form-urlencoded; charset=utf-8";
    auto body = caller_.call(request);
    if (!body) return tl::unexpected(std::move(body.error()));
    auto document = aws::parse_xml(*body);
    if (!document) return corrupt(query.operation, document.error().message);
    for (auto& child : document->children)
        if (child.name == query.operation + "Result") return std::move(child);
    return corrupt(query.operation, fmt::format("the answer has no {}Result", query.operation));
}

ApiResult<std::vector<aws::Element>> Api::list(Query query, const std::string& name) {
    std::vector<aws::Element> all;
    const auto fields = query.fields;
    std::string marker;
    for (std::size_t pages = 0; pages < max_pages; ++pages) {
        query.fields = fields;
        query.fields.emplace_back("PageSize", page_size);
        if (!marker.empty()) query.fields.emplace_back("Marker", marker);
        auto page = call(query);
        if (!page) return tl::unexpected(std::move(page.error()));
        for (auto& child : page->children)
            if (child.name == name) std::move(child.children.begin(), child.children.end(), std::back_inserter(all));
        auto next = page->at("NextMarker");
        if (next.empty()) return all;
        if (next == marker) break;
        marker = std::move(next);
    }
    return corrupt(query.operation, "the list does not end");
}

ApiResult<void> Api::tags_of_some(const std::vector<std::string>& arns, std::map<std::string, Tags>& into) {
    auto answer = call({"DescribeTags", members("ResourceArns", arns)});
    if (answer) {
        for (const auto& member : answer->list("TagDescriptions")) {
            auto tags = tags_of(member);
            if (!tags) return corrupt("DescribeTags", tags.error().message);
            into.insert(std::move(*tags));
        }
        return {};
    }
    if (answer.error().error.code != Errc::not_found) return tl::unexpected(std::move(answer.error()));
    // One of them has gone, and AWS says nothing about the others.
    if (arns.size() == 1) return {};
    const auto middle = arns.begin() + static_cast<std::ptrdiff_t>(arns.size() / 2);
    if (auto first = tags_of_some({arns.begin(), middle}, into); !first) return first;
    return tags_of_some({middle, arns.end()}, into);
}

ApiResult<std::map<std::string, Tags>> Api::tags(const std::vector<std::string>& arns) {
    std::map<std::string, Tags> all;
    for (std::size_t at = 0; at < arns.size(); at += arns_of_call) {
        const auto last = std::min(at + arns_of_call, arns.size());
        const std::vector<std::string> some(arns.begin() + static_cast<std::ptrdiff_t>(at),
                                            arns.begin() + static_cast<std::ptrdiff_t>(last));
        if (auto read = tags_of_some(some, all); !read) return tl::unexpected(std::move(read.error()));
    }
    return all;
}

}  // namespace fairlead::elb
