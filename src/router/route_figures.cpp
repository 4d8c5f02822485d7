#include "router/route_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/text.h"

namespace fairlead::router {

namespace {

using Kind = SampleFamily::Kind;
using Figures = std::map<std::string, proxy::PoolFigures>;

// "route/shop/cart"; what is no Route's ("lrp/foo.com/path") has no namespace.
Labels route_labels(const std::string& pool) {
    const auto parts = split(pool, '/');
    if (parts.size() != 3 || parts[0] != "route") return {{"namespace", ""}, {"route", pool}};
    return {{"namespace", std::string(parts[1])}, {"route", std::string(parts[2])}};
}

// "ingress/shop/web/cart:80"
Labels ingress_labels(const std::string& pool) {
    const auto parts = split(pool, '/');
    if (parts.size() != 4 || parts[0] != "ingress") return {{"namespace", ""}, {"ingress", pool}, {"backend", ""}};
    return {
        {"namespace", std::string(parts[1])}, {"ingress", std::string(parts[2])}, {"backend", std::string(parts[3])}};
}

SampleFamily gauge(std::string name, std::string help, Labels labels, double value) {
    return {std::move(name), std::move(help), Kind::gauge, {{std::move(labels), value}}};
}

// `noun`: "route", whose figures are "fairlead_route_requests_total" and so on.
std::vector<SampleFamily> pool_figures(const std::string& noun, const Figures& figures,
                                       const std::function<Labels(const std::string& pool)>& labels_of) {
    const auto name = [&](const char* rest) { return fmt::format("fairlead_{}_{}", noun, rest); };
    SampleFamily requests{
        name("requests_total"), "Requests that were answered, by class of the code.", Kind::counter, {}};
    SampleFamily in{name("received_bytes_total"), "Bytes from clients.", Kind::counter, {}};
    SampleFamily out{name("sent_bytes_total"), "Bytes to clients.", Kind::counter, {}};
    SampleFamily errors{name("connect_errors_total"), "Connections to members that failed.", Kind::counter, {}};
    SampleFamily seconds{name("response_seconds"), "Average time of the last 1024 answers.", Kind::gauge, {}};
    SampleFamily active{name("active_requests"), "Requests under way.", Kind::gauge, {}};
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
    std::vector<SampleFamily> families;
    for (auto* family : {&requests, &in, &out, &errors, &seconds, &active}) families.push_back(std::move(*family));
    return families;
}

double left_out(const Figures& figures) {
    return figures.size() > max_shown_routes ? static_cast<double>(figures.size() - max_shown_routes) : 0;
}

}  // namespace

std::vector<SampleFamily> route_figures(const Figures& figures, const ShownProgress& progress) {
    auto families = pool_figures("route", figures, route_labels);
    families.push_back(gauge("fairlead_route_metrics_left_out",
                             "Routes whose figures are not shown: there are too many.", {}, left_out(figures)));
    families.push_back(gauge("fairlead_router_programmed_revision",
                             "Every change of a Route up to this resourceVersion is in force in the proxy.", {},
                             static_cast<double>(progress.programmed)));
    families.push_back(gauge("fairlead_router_waiting_batches",
                             "Changes handed to the proxy that are not in force yet.", {},
                             static_cast<double>(progress.waiting)));
    return families;
}

std::vector<SampleFamily> balancer_figures(const std::string& load_balancer, const Figures& figures,
                                           const ShownProgress& progress) {
    const Labels of{{"loadbalancer", load_balancer}};
    auto families = pool_figures("ingress", figures, [&](const std::string& pool) {
        auto labels = ingress_labels(pool);
        labels.insert(of.begin(), of.end());
        return labels;
    });
    families.push_back(gauge("fairlead_ingress_metrics_left_out",
                             "Back ends of Ingresses whose figures are not shown: there are too many.", of,
                             left_out(figures)));
    families.push_back(gauge("fairlead_loadbalancer_programmed_revision",
                             "Every change of an Ingress up to this resourceVersion is in force in the proxy.", of,
                             static_cast<double>(progress.programmed)));
    families.push_back(gauge("fairlead_loadbalancer_waiting_batches",
                             "Changes handed to the balancer's proxy that are not in force yet.", of,
                             static_cast<double>(progress.waiting)));
    families.push_back(gauge("fairlead_loadbalancer_ingresses", "Ingresses that the balancer's proxy serves.", of,
                             static_cast<double>(progress.routes)));
    families.push_back(gauge("fairlead_loadbalancer_problem_ingresses",
                             "Ingresses that are not served, or not whole; see the RouterInstance.", of,
                             static_cast<double>(progress.problem_routes)));
    families.push_back({"fairlead_loadbalancer_reloads_total",
                        "Reloads of the balancer's proxy, since its agent was started.",
                        Kind::counter,
                        {{of, static_cast<double>(progress.reloads)}}});
    return families;
}

void merge(std::vector<SampleFamily>& into, std::vector<SampleFamily> more) {
    for (auto& family : more) {
        const auto same =
            std::find_if(into.begin(), into.end(), [&](const auto& known) { return known.name == family.name; });
        if (same == into.end()) {
            into.push_back(std::move(family));
        } else {
            std::move(family.samples.begin(), family.samples.end(), std::back_inserter(same->samples));
        }
    }
}

}  // namespace fairlead::router
