// What a controller is made from, and what it holds while it lives: its views, its client, its queue and its recorder.
// The functions of the first group are for the constructor of the reconciler only.
#pragma once

#include <functional>
#include <string>
#include <typeindex>

#include "control/client.h"
#include "control/informer.h"
#include "control/reconciler.h"
#include "control/recorder.h"
#include "control/view.h"
#include "control/work_queue.h"

namespace fairlead::control {

class Manager;

class Context {
public:
    Context(Manager& manager, std::string name, WorkQueue& queue);

    // --- while it is made ---
    // The kind in memory; `kind` is looked up by its table, so resource::route_kind() will do.
    Informer& informer(const resource::Kind& kind);
    // The kind as structs: view<resource::Route>(resource::route_kind()).
    template <class T>
    View<T>& view(const resource::Kind& kind) {
        auto& slot = view_slot(kind, typeid(View<T>));
        if (!slot) slot = std::make_shared<View<T>>(informer(kind), log());
        return *static_cast<View<T>*>(slot.get());
    }
    // Every change of an object asks for its own key.
    void watch(Informer& informer);
    // Every change of an object asks for the keys that `keys_of` names; it is asked about the state before and after.
    void watch(Informer& informer, const Informer::KeysOf& keys_of);
    // News from elsewhere than the store: asked at every step in which the manager may act; enqueues keys.
    void add_source(std::function<void()> poll);
    // Makes the manager take a step; for whoever has such news. From any thread, also when the manager is gone.
    [[nodiscard]] std::function<void()> waker() const;

    // --- while it runs ---
    [[nodiscard]] const std::string& name() const { return name_; }
    Client& client() { return client_; }
    EventRecorder& events() { return recorder_; }
    [[nodiscard]] const Clock& clock() const;
    Random& random();
    Log& log();
    Metrics& metrics();
    [[nodiscard]] const resource::Kinds& kinds() const;
    void enqueue(const Key& key) { queue_.add(key); }
    // It was done along with the key that runs now.
    void taken_along(const Key& key) { queue_.drop(key); }
    void enqueue_after(const Key& key, std::chrono::nanoseconds delay) { queue_.add_after(key, delay); }

private:
    std::shared_ptr<void>& view_slot(const resource::Kind& kind, std::type_index type);

    Manager& manager_;
    std::string name_;
    WorkQueue& queue_;
    Client client_;
    EventRecorder recorder_;
};

}  // namespace fairlead::control
