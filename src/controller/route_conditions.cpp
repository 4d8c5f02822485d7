#include "controller/route_conditions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "control/conditions.h"
#include "controller/source_conditions.h"
#include "route/admission.h"

namespace fairlead::controller {

namespace {

using resource::Condition;
using resource::Route;

// With one of these a route of several services is served by the others; with one service it is not.
constexpr std::array<std::string_view, 4> of_one_service = {"NoService", "ExternalName", "NoSuchPort", "NoEndpoints"};
// With these it is served, though not as it was meant; with any other nothing is.
constexpr std::array<std::string_view, 5> harmless = {"InvalidAnnotation", "TooManyEndpoints", "CertificateExpired",
                                                      "Unsupported", "AllEndpointsFail"};

template <class List>
bool is_one_of(const List& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

Condition condition(const Route& route, std::string type, std::string status, std::string reason, std::string message) {
    Condition made;
    made.type = std::move(type);
    made.status = std::move(status);
    made.reason = std::move(reason);
    made.message = std::move(message);
    made.observed_generation = route.metadata.generation;
    return made;
}

bool stops(const Route& route, const resource::RouterInstanceProblem& problem) {
    if (is_one_of(of_one_service, problem.reason)) return route.spec.alternate_backends.empty();
    return !is_one_of(harmless, problem.reason);
}

class Teller {
public:
    explicit Teller(const RouteFacts& facts) : facts_(facts), route_(facts.route) {}

    RouteStory tell() {
        if (route_.status.phase != "scheduled") {
            tell_unbound();
            return std::move(story_);
        }
        const bool user = !is_shard_name(route_);
        const bool here = user && tell_domain();
        tell_name(user, here);
        tell_serving();
        return std::move(story_);
    }

private:
    void add(std::string type, std::string_view status, std::string reason, std::string message) {
        story_.conditions.push_back(
            condition(route_, std::move(type), std::string(status), std::move(reason), std::move(message)));
    }
    // Who has never been up need not hear that it is not: Scheduled says why.
    void tell_unbound() {
        for (const auto* type : {"NameReady", "Serving", "DomainPointsHere"}) {
            if (control::find_condition(route_.status.conditions, type) != nullptr)
                add(type, "False", "NotScheduled", "the route is placed on no router");
        }
    }

    // True: it leads here.
    bool tell_domain() {
        const auto& domain = facts_.domain;
        if (!domain.known) {
            const auto* before = control::find_condition(route_.status.conditions, "DomainPointsHere");
            return before != nullptr && before->status == "True";
        }
        const auto& host = route_.status.host;
        std::vector<std::string> here, elsewhere;
        for (const auto& address : domain.found) {
            (is_one_of(domain.ours, address) ? here : elsewhere).push_back(address);
        }
        if (domain.found.empty()) {
            add("DomainPointsHere", "False", "NameNotFound", fmt::format("{}; {}", domain.problem, what_to_do()));
        } else if (domain.ours.empty()) {
            add("DomainPointsHere", "Unknown", "NoRouterAddress",
                fmt::format("{} leads to {}, but router {} has no address yet", host, join_some(domain.found),
                            route_.status.router));
        } else if (elsewhere.empty()) {
            add("DomainPointsHere", "True", "PointsHere",
                fmt::format("{} leads to router {}", host, route_.status.router));
            return true;
        } else {
            add("DomainPointsHere", "False", here.empty() ? "PointsElsewhere" : "PartlyElsewhere",
                fmt::format("{} leads to {}, {} no address of router {} ({}); {}", host, join_some(elsewhere),
                            elsewhere.size() == 1 ? "which is" : "which are", route_.status.router,
                            join_some(domain.ours), what_to_do()));
        }
        return false;
    }

    [[nodiscard]] std::string what_to_do() const {
        const auto& domain = facts_.domain;
        const auto& host = route_.status.host;
        const bool apex = host == domain.zone || std::count(host.begin(), host.end(), '.') == 1;
        std::string ways;
        if (!domain.zone.empty() && !domain.servers.empty()) {
            ways = fmt::format("at the registrar of {} delegate it to the name servers {}, or where its records are ",
                               domain.zone, join_some(domain.servers));
        } else {
            ways = "where its records are ";
        }
        if (apex) {
            return ways + fmt::format("give {} the address{} {} (a CNAME is not possible at the top of a zone)", host,
                                      domain.ours.size() == 1 ? "" : "es",
                                      domain.ours.empty() ? "of the router" : join_some(domain.ours));
        }
        return ways + fmt::format("make {} a CNAME of {}", host, route_.status.dns);
    }

    void tell_name(bool user, bool here) {
        const auto& host = route_.status.host;
        switch (facts_.name.record) {
            case NameFacts::Record::ready:
                return add("NameReady", "True", "Published", fmt::format("{} is in DNS", host));
            case NameFacts::Record::waiting:
                if (here) break;
                story_.unsettled.insert("NameReady");
                return add(
                    "NameReady", "False", "NotPublished",
                    facts_.name.why.empty() ? fmt::format("nobody has published {} yet", host) : facts_.name.why);
            case NameFacts::Record::none:
                if (here) break;
                story_.unsettled.insert("NameReady");
                if (user) {
                    return add(
                        "NameReady", "False", "NotPointedHere",
                        fmt::format("no zone of ours has {}, and it does not lead here: see DomainPointsHere", host));
                }
                return add("NameReady", "False", "NoZone",
                           fmt::format("no DNSRecord answers for *.{}: router {} has no zone or no address",
                                       route_.status.dns, route_.status.router));
        }
        add("NameReady", "True", "PointedHere", fmt::format("{} leads here", host));
    }

    void serving(std::string_view status, std::string reason, std::string message) {
        add("Serving", status, std::move(reason), std::move(message));
    }

    void tell_serving() {
        const auto& facts = facts_.serving;
        const auto& router = route_.status.router;
        if (const auto refusal = route::refusal_of(route_, route_.status.host))
            return serving("False", "NotAdmitted", refusal->message);
        if (facts.router == nullptr) return serving("False", "NoRouter", fmt::format("there is no router {}", router));
        if (!route::is_admitted(route_, route_.status.host)) {
            story_.unsettled.insert("Serving");
            return serving("False", "AdmissionPending", "its host is being looked at");
        }
        if (!facts.no_endpoints.empty()) return serving("False", "NoEndpoints", facts.no_endpoints);
        if (!facts.reports) {
            if (facts.router->spec.addresses.empty()) {
                story_.unsettled.insert("Serving");
                return serving("False", "NoReadyInstance",
                               fmt::format("no instance of router {} has registered", router));
            }
            return serving(
                "Unknown", "NobodyReports",
                fmt::format("the instances of router {} are listed in spec.addresses and report nothing", router));
        }
        if (!facts.ready) {
            story_.unsettled.insert("Serving");
            return serving("False", "NoReadyInstance", fmt::format("no instance of router {} is ready", router));
        }
        if (facts.problem && stops(route_, *facts.problem))
            return serving("False", facts.problem->reason, facts.problem->message);
        if (!facts.problem && facts.unlisted) {
            return serving("Unknown", "ProblemsNotListed",
                           fmt::format("instances of router {} have problems with more routes than they list; the "
                                       "listed ones come first",
                                       router));
        }
        if (!facts.programmed) {
            story_.unsettled.insert("Serving");
            return serving("False", "NotProgrammed",
                           fmt::format("the instances of router {} do not serve its last change yet", router));
        }
        auto message =
            fmt::format("served as {} by router {}", resource::route_url(route_, &facts.router->spec.ports), router);
        if (facts.problem) message += fmt::format(", but {}", facts.problem->message);
        serving("True", "Programmed", std::move(message));
    }

    const RouteFacts& facts_;
    const Route& route_;
    RouteStory story_;
};

}  // namespace

RouteStory route_story(const RouteFacts& facts) { return Teller(facts).tell(); }

bool is_shard_name(const Route& route) {
    const auto& host = route.status.host;
    const auto& dns = route.status.dns;
    return !dns.empty() && route::parent_of(host) == dns;
}

}  // namespace fairlead::controller
