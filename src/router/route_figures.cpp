#include "router/route_figures.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::router {

namespace {

// "route/shop/cart", "ingress/shop/web/cart:80"; what is neither ("lrp/foo.com/path") has no namespace.
Labels labels_of(const std::string& pool) {
    const auto parts = split(pool, '/');
    if (parts.size() == 4 && parts[0] == "ingress") {
        return {{"namespace", std::string(parts[1])}, {"route", fmt::format("{}/{}", parts[2], parts[3])}};
    }
    if (parts.size() != 3 || parts[0] != "route") return {{"namespace", ""}, {"route", pool}};
    return {{"namespace", std::string(parts[1])}, {"route", std::string(parts[2])}};
}

}  // namespace

std::vector<SampleFamily> route_figures(const std::map<std::string, proxy::PoolFigures>& figures,
                                        const ShownProgress& progress) {
    using Kind = SampleFamily::Kind;
    SampleFamily requests{
        "fairlead_route_requests_total", "Requests that were answered, by class of the code.", Kind::counter, {}};
    SampleFamily in{"fairlead_route_received_bytes_total", "Bytes from clients.", Kind::counter, {}};
    SampleFamily out{"fairlead_route_sent_bytes_total", "Bytes to clients.", Kind::counter, {}};
    SampleFamily errors{
        "fairlead_route_connect_errors_total", "Connections to members that failed.", Kind::counter, {}};
    SampleFamily seconds{"fairlead_route_response_seconds", "Average time of the last 1024 answers.", Kind::gauge, {}};
    SampleFamily active{"fairlead_route_active_requests", "Requests under way.", Kind::gauge, {}};
    std::size_t shown = 0;
    for (const auto& [pool, counted] : figures) {
        if (++shown > max_shown_routes) break;
        const auto labels = labels_of(pool);
        std::uint64_t coded = 0;
        for (const auto& [code, count] : counted.codes) {
            auto with_code = labels;
            with_code["code"] = fmt::format("{}xx", code);
            requests.samples.push_back({std::move(with_code), static_cast<double>(count)});
            coded += count;
        }
        if (counted.requests > coded) {  // passed through without being read, or cut off
            auto without = labels;
            without["code"] = "none";
            requests.samples.push_back({std::move(without), static_cast<double>(counted.requests - coded)});
        }
        in.samples.push_back({labels, static_cast<double>(counted.bytes_in)});
        out.samples.push_back({labels, static_cast<double>(counted.bytes_out)});
        errors.samples.push_back({labels, static_cast<double>(counted.connect_errors)});
        seconds.samples.push_back({labels, counted.average_seconds});
        active.samples.push_back({labels, static_cast<double>(counted.active)});
    }
    const auto hidden = figures.size() > max_shown_routes ? figures.size() - max_shown_routes : 0;
    SampleFamily left_out{"fairlead_route_metrics_left_out",
                          "Routes whose figures are not shown: there are too many.",
                          Kind::gauge,
                          {{{}, static_cast<double>(hidden)}}};
    SampleFamily revision{"fairlead_router_programmed_revision",
                          "Every change of a Route up to this resourceVersion is in force in the proxy.",
                          Kind::gauge,
                          {{{}, static_cast<double>(progress.programmed)}}};
    SampleFamily waiting{"fairlead_router_waiting_batches",
                         "Changes handed to the proxy that are not in force yet.",
                         Kind::gauge,
                         {{{}, static_cast<double>(progress.waiting)}}};
    std::vector<SampleFamily> families;
    for (auto* family : {&requests, &in, &out, &errors, &seconds, &active, &left_out, &revision, &waiting}) {
        families.push_back(std::move(*family));
    }
    return families;
}

}  // namespace fairlead::router
