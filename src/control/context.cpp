#include "control/context.h"

#include "control/manager.h"

namespace fairlead::control {

Context::Context(Manager& manager, std::string name, WorkQueue& queue)
    : manager_(manager),
      name_(std::move(name)),
      queue_(queue),
      client_(manager.parts_.transport, name_, &manager.parts_.fence, manager.parts_.clock),
      recorder_(manager.events_, name_) {}

Informer& Context::informer(const resource::Kind& kind) { return manager_.informer(kind); }

std::shared_ptr<void>& Context::view_slot(const resource::Kind& kind, std::type_index type) {
    return manager_.views_[{kind.table(), type}];
}

void Context::watch(Informer& informer) {
    informer.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        enqueue(Key(after ? after->name() : before->name()));
    });
}

void Context::watch(Informer& informer, const Informer::KeysOf& keys_of) {
    informer.add_handler([this, keys_of](const store::ObjectRef& before, const store::ObjectRef& after) {
        for (const auto* object : {&before, &after}) {
            if (!*object) continue;
            for (const auto& key : keys_of(**object)) enqueue(key);
        }
    });
}

void Context::add_source(std::function<void()> poll) { manager_.sources_.push_back(std::move(poll)); }
std::function<void()> Context::waker() const { return manager_.waker(); }

const Clock& Context::clock() const { return manager_.parts_.clock; }
Random& Context::random() { return manager_.parts_.random; }
Log& Context::log() { return manager_.parts_.log; }
Metrics& Context::metrics() { return manager_.parts_.metrics; }
const resource::Kinds& Context::kinds() const { return manager_.parts_.kinds; }

}  // namespace fairlead::control
