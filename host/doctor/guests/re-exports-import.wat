(component
  (import "doctor:offers/echo@1.0.0" (instance $echo (export "echo" (func (param "text" string) (result string)))))
  (alias export $echo "echo" (func $f))
  (export "run" (func $f)))
