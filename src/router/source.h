// What an agent knows of the API: the objects that it serves (Routes, or Ingresses), and the Services, Endpoints and
// Secrets of all namespaces, kept in step by list and watch; which of its objects a change of any of them touches, and
// what each of them asks of the proxy's table. Used by the agent; what is served is said by RouteSource and
// IngressSource.
//
// Threads: one, that of step(); callbacks of the link may come from any.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "cluster/list_watch.h"
#include "cluster/shelf.h"
#include "resource/kinds/endpoints.h"
#include "resource/kinds/secret.h"
#include "resource/kinds/service.h"
#include "route/table.h"
#include "router/certificate_memory.h"
#include "traffic/union.h"

namespace fairlead::router {

// What a source is made with; all outlive it.
struct Feed {
    cluster::Link& link;
    const Clock& clock;
    Random& random;
    Log& log;
    std::function<void()> wake;  // from any thread: step() has something to do
};

class Source {
public:
    // What one object asks for.
    struct Made {
        route::Part part{};
        traffic::Rank rank{};
        std::optional<WallTime> until{};  // it has to be looked at again then
    };
    // What checks say of a member.
    using State = std::function<traffic::MemberState(std::string_view address, std::uint16_t port)>;

    virtual ~Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    Step step();

    // Everything has been listed at least once; Secrets count as listed when we may not read them.
    [[nodiscard]] bool listed() const;
    // Why something cannot be read now; empty: all is well.
    [[nodiscard]] std::string problem() const;
    // Every change of an object that is served up to here has been taken in.
    [[nodiscard]] std::optional<std::int64_t> revision() const;

    // Objects of ours that have to be looked at again, each once; "namespace/name".
    std::set<std::string> take_touched() { return std::exchange(touched_, {}); }
    void touch(const std::string& key) { touched_.insert(key); }
    // Secrets that have changed, for whoever else uses them.
    std::set<std::string> take_changed_secrets() { return std::exchange(changed_secrets_, {}); }
    // Whether an object of ours itself was among them since the last call, and not only what stands behind it.
    bool take_own_change() { return std::exchange(own_change_, false); }

    // Nothing: it is gone, or another's.
    [[nodiscard]] virtual std::optional<Made> make(const std::string& key, const State& state, WallTime now) = 0;
    // What the owners of its objects begin with: "route/", then the key.
    [[nodiscard]] virtual std::string_view owner_prefix() const = 0;
    // What is told to the owner of a rule that another, older one has; nothing: it hears of it elsewhere.
    [[nodiscard]] virtual std::optional<route::Problem> lost(const traffic::RuleKey&, const std::string& /*winner*/,
                                                             const std::string& /*loser*/) const {
        return std::nullopt;
    }

    [[nodiscard]] const resource::Service* service(std::string_view key) const { return find(services_, key); }
    [[nodiscard]] const resource::Endpoints* endpoints(std::string_view key) const { return find(endpoints_, key); }
    [[nodiscard]] const resource::Secret* secret(std::string_view key) const { return find(secrets_, key); }

protected:
    // The Services and Secrets that an object names.
    struct Names {
        std::vector<std::string> services{}, secrets{};
    };

    explicit Source(const Feed& feed);
    // Follows one more kind, after those that are followed already; the last one is what is served.
    void follow(cluster::Topic topic, cluster::Sink& sink);
    // No more is followed: whoever has the sinks ends.
    void end() { topics_.clear(); }
    // An object of ours changed: what it named, and what it names now.
    void index(const std::string& key, const Names& before, const Names& after);
    [[nodiscard]] route::World world(const std::string& key, const State& state, WallTime now);
    void forget_certificates(const std::string& key) { certificates_.forget(key); }
    [[nodiscard]] Log& log() const { return feed_.log; }

    template <class T>
    static const T* find(const std::map<std::string, T>& objects, std::string_view key) {
        const auto found = objects.find(std::string(key));
        return found != objects.end() ? &found->second : nullptr;
    }

private:
    using Index = std::map<std::string, std::set<std::string>, std::less<>>;  // object -> ours

    template <class T>
    cluster::Shelf<T> shelf(std::map<std::string, T>& objects, Index& index);
    void touch_all(const Index& index, const std::string& key);

    Feed feed_;
    std::map<std::string, resource::Service> services_;
    std::map<std::string, resource::Endpoints> endpoints_;
    std::map<std::string, resource::Secret> secrets_;
    Index by_service_, by_secret_;
    std::set<std::string> touched_, changed_secrets_;
    bool own_change_ = false;
    CertificateMemory certificates_;
    cluster::Shelf<resource::Service> service_shelf_;
    cluster::Shelf<resource::Endpoints> endpoints_shelf_;
    cluster::Shelf<resource::Secret> secret_shelf_;
    // What stands behind objects is taken in before the objects that name it.
    enum Topics { of_services, of_endpoints, of_secrets };
    std::deque<cluster::ListWatch> topics_;  // last: their calls end before anything else
};

}  // namespace fairlead::router
