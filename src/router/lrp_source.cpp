#include "router/lrp_source.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "lrp/read.h"
#include "resource/describe.h"
#include "resource/kinds/actual_lrp.h"
#include "resource/kinds/desired_lrp.h"
#include "resource/kinds/port_lease.h"
#include "route/shard.h"
#include "router/follow.h"

namespace fairlead::router {

namespace {

constexpr std::size_t max_told = 1'000;

// Objects that cannot be read, each told once until it can be.
class LeftOut {
public:
    explicit LeftOut(Log& log) : log_(log) {}
    void add(const std::string& kind, const std::string& object, const Error& why) {
        if (told_.size() >= max_told || !told_.insert(object).second) return;
        log_.warn("LRP is left out: it cannot be read", {{"kind", kind}, {"object", object}, {"why", why.text()}});
    }
    void erase(const std::string& object) { told_.erase(object); }

private:
    Log& log_;
    std::set<std::string> told_;
};

std::uint16_t port_at(const json::Value& object, std::string_view path) {
    const auto number = json::int_at(object, path).value_or(0);
    return number > 0 && number <= 65'535 ? static_cast<std::uint16_t>(number) : std::uint16_t{0};
}

// Of a topic that we can do without.
bool settled(const cluster::ListWatch& topic) { return topic.listed() || topic.refused() || topic.absent(); }

}  // namespace

class LrpSource::DesiredSink final : public cluster::Sink {
public:
    DesiredSink(LrpSource& source, Log& log) : source_(source), left_out_(log) {}
    void put(const std::string& key, const json::Value& object) override {
        auto read = lrp::desired_of_object(object);
        if (!read) return left_out_.add("DesiredLRP", key, read.error());
        left_out_.erase(key);
        read->tag = {};  // news come in order
        auto process = read->key;
        source_.desired_.put(key, std::move(process), {std::move(*read), lrp_settings(object)}, false, {});
    }
    void erase(const std::string& key) override {
        left_out_.erase(key);
        source_.desired_.erase(key);
    }
    void keep_only(const std::set<std::string>& keys) override { source_.desired_.keep_only(keys); }

private:
    LrpSource& source_;
    LeftOut left_out_;
};

class LrpSource::ActualSink final : public cluster::Sink {
public:
    ActualSink(LrpSource& source, Log& log) : source_(source), left_out_(log) {}
    void put(const std::string& key, const json::Value& object) override {
        auto read = lrp::actual_of_object(object);
        if (!read) return left_out_.add("ActualLRP", key, read.error());
        left_out_.erase(key);
        read->tag = {};
        const bool idle = !read->running;
        auto mark = read->instance_guid;
        Slot slot{read->process, read->index, read->evacuating};
        source_.actual_.put(key, std::move(slot), std::move(*read), idle, std::move(mark));
    }
    void erase(const std::string& key) override {
        left_out_.erase(key);
        source_.actual_.erase(key);
    }
    void keep_only(const std::set<std::string>& keys) override { source_.actual_.keep_only(keys); }

private:
    LrpSource& source_;
    LeftOut left_out_;
};

// Leases of other Routers, and such as are over, do not get as far as the shelf.
class LrpSource::LeaseSink final : public cluster::Sink {
public:
    LeaseSink(const std::string& router, cluster::Sink& shelf) : router_(router), shelf_(shelf) {}
    void put(const std::string& key, const json::Value& object) override {
        const bool ours =
            json::string_at(object, "spec.router") == router_ && json::string_at(object, "status.phase") != "Released";
        return ours ? shelf_.put(key, object) : shelf_.erase(key);
    }
    void erase(const std::string& key) override { shelf_.erase(key); }
    void keep_only(const std::set<std::string>& keys) override { shelf_.keep_only(keys); }

private:
    const std::string& router_;
    cluster::Sink& shelf_;
};

LrpSource::LrpSource(std::string router, cluster::Link& link, const Clock& clock, Random& random, Log& log,
                     std::function<void()> wake)
    : router_(std::move(router)),
      link_(link),
      clock_(clock),
      random_(random),
      wake_(std::move(wake)),
      desired_(
          [this](std::pair<lrp::Desired, LrpSettings> said) { put(std::move(said.first), std::move(said.second)); },
          [this](const lrp::ProcessKey& process, const std::string&) {
              lrp::Desired gone;
              gone.key = process;
              book_.erase(gone);
              settings_.erase(process);
          }),
      actual_([this](const lrp::Actual& actual) { book_.put(actual); },
              [this](const Slot& slot, const std::string& instance) {
                  lrp::Actual gone;
                  gone.process = slot.process;
                  gone.index = slot.index;
                  gone.evacuating = slot.evacuating;
                  gone.instance_guid = instance;
                  book_.erase(gone);
              }),
      desired_sink_(std::make_unique<DesiredSink>(*this, log)),
      actual_sink_(std::make_unique<ActualSink>(*this, log)),
      taker_shelf_(
          takers_,
          [](const json::Value& object) -> Result<Taker> {
              const auto* spec = json::find(object, "spec");
              if (spec == nullptr) return fail(Errc::invalid, "spec", "is missing");
              Taker taker{std::string(json::string_at(*spec, "label")), std::nullopt};
              if (const auto* selector = json::find(*spec, "selector"); selector != nullptr && !selector->is_null()) {
                  auto read = resource::decode<resource::LabelSelector>(*selector);
                  if (!read) return fail(std::move(read.error()));
                  taker.selector = std::move(*read);
              }
              return taker;
          },
          [this](const std::string& key, const Taker*, const Taker* after) { take_router(key, after); }, log, "our own",
          max_objects),
      lease_shelf_(
          leases_,
          [](const json::Value& object) -> Result<Lease> {
              Lease lease;
              lease.port.port = port_at(object, "spec.port");
              const auto protocol = json::string_at(object, "spec.protocol");
              if (protocol != "tcp" && protocol != "udp") return fail(Errc::invalid, "spec.protocol", "tcp or udp");
              lease.port.transport = protocol == "tcp" ? traffic::Transport::tcp : traffic::Transport::udp;
              lease.leased.process = {std::string(json::string_at(object, "spec.owner.namespace")),
                                      std::string(json::string_at(object, "spec.owner.processGuid"))};
              lease.leased.container_port = port_at(object, "spec.owner.containerPort");
              lease.leased.proxy_protocol = json::bool_at(object, "spec.proxyProtocol");
              if (lease.port.port == 0 || lease.leased.container_port == 0) {
                  return fail(Errc::invalid, "spec.port", "it and owner.containerPort must be between 1 and 65535");
              }
              return lease;
          },
          [this](const std::string&, const Lease* before, const Lease* after) { take_lease(before, after); }, log,
          "our own", max_objects),
      lease_sink_(std::make_unique<LeaseSink>(router_, lease_shelf_)),
      of_desired_(topic_of(resource::desired_lrp_kind()), {link, clock, random, *desired_sink_, wake_},
                  follower_options()) {}

LrpSource::~LrpSource() = default;

void LrpSource::put(lrp::Desired desired, LrpSettings settings) {
    const auto process = desired.key;
    const bool is_new = !book_.knows(process);
    book_.put(std::move(desired));
    if (this->settings(process) == settings) return;
    if (!is_new) resettled_.insert(process);  // all names of a new one are made anyway
    if (settings == LrpSettings{}) {
        settings_.erase(process);
    } else {
        settings_.insert_or_assign(process, std::move(settings));
    }
}

void LrpSource::take_router(const std::string& name, const Taker* taker) {
    // Our own one may be deleted under us: what is served goes on.
    if (taker == nullptr && name == router_) return;
    all_touched_ = true;
    if (taker == nullptr) return routers_.erase(name);
    resource::Router router;
    router.metadata.name = name;
    router.spec.label = taker->label;
    router.spec.selector = taker->selector;
    routers_.put(route::router_facts(router));
}

void LrpSource::take_lease(const Lease* before, const Lease* after) {
    leased_ports_.reset();
    if (before != nullptr) {
        touched_ports_.insert(before->port);
        ports_.erase(before->port);
        const auto of = ports_of_.find(before->leased.process);
        of->second.erase(before->port);
        if (of->second.empty()) ports_of_.erase(of);
    }
    if (after != nullptr) {
        touched_ports_.insert(after->port);
        ports_.insert_or_assign(after->port, after->leased);
        ports_of_[after->leased.process].insert(after->port);
    }
}

void LrpSource::follow_others() {
    const auto topic = [this](cluster::Topic what, cluster::Sink& sink) {
        return std::make_unique<cluster::ListWatch>(
            std::move(what), cluster::ListWatchParts{link_, clock_, random_, sink, wake_}, follower_options());
    };
    others_[of_routers] = topic(topic_of(resource::router_kind()), taker_shelf_);
    others_[of_leases] =
        topic(topic_of(resource::port_lease_kind(), "fieldSelector=spec.router%3D" + router_), *lease_sink_);
    others_[of_actual] = topic(topic_of(resource::actual_lrp_kind()), *actual_sink_);
}

Step LrpSource::step() {
    auto all = of_desired_.step();
    if (others_[of_actual] == nullptr && desired_.size() > 0) follow_others();
    for (auto& topic : others_) {
        if (topic == nullptr) continue;
        const bool was_settled = settled(*topic);
        sooner(all, topic->step());
        all_touched_ = all_touched_ || (!was_settled && settled(*topic));
    }
    return all;
}

bool LrpSource::listed() const {
    return settled(of_desired_) &&
           (desired_.size() == 0 || std::all_of(others_.begin(), others_.end(),
                                                [](const auto& topic) { return topic != nullptr && settled(*topic); }));
}

std::string LrpSource::problem() const {
    // A server that does not know LRPs has none.
    if (!of_desired_.problem().empty()) return of_desired_.absent() ? std::string() : of_desired_.problem();
    for (const auto& topic : others_) {
        if (topic != nullptr && !topic->problem().empty() && !topic->absent()) return topic->problem();
    }
    return {};
}

bool LrpSource::serves(const lrp::Desired& desired) const {
    // Who else takes it is not known before all Routers are.
    const auto& topic = others_[of_routers];
    return topic != nullptr && topic->listed() && routers_.belongs(desired.labels, router_);
}

const LrpSettings& LrpSource::settings(const lrp::ProcessKey& process) const {
    static const LrpSettings usual;
    const auto found = settings_.find(process);
    return found != settings_.end() ? found->second : usual;
}

const LeasedPort* LrpSource::leased(const traffic::PortKey& port) const {
    const auto found = ports_.find(port);
    return found != ports_.end() ? &found->second : nullptr;
}

std::shared_ptr<const LeasedPorts> LrpSource::leased_ports() const {
    if (!listed()) return nullptr;
    if (leased_ports_ == nullptr) {
        std::map<traffic::Transport, std::set<std::uint16_t>> ports;
        for (const auto& [key, leased] : ports_) ports[key.transport].insert(key.port);
        auto made = std::make_shared<LeasedPorts>();
        for (const auto& [transport, of] : ports) made->emplace(transport, PortRanges(of));
        leased_ports_ = std::move(made);
    }
    return leased_ports_;
}

std::set<traffic::PortKey> LrpSource::ports_of(const lrp::ProcessKey& process) const {
    const auto found = ports_of_.find(process);
    return found != ports_of_.end() ? found->second : std::set<traffic::PortKey>();
}

std::vector<lrp::ProcessKey> LrpSource::take_touched() {
    auto touched = book_.take_touched();
    if (std::exchange(all_touched_, false)) {
        desired_.each([&touched](const lrp::ProcessKey& process) { touched.push_back(process); });
    }
    return touched;
}

}  // namespace fairlead::router
